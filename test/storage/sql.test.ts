import fc from 'fast-check'
import { describe, expect, test } from 'vitest'
import { dec } from '../../src/domain/decimal.ts'
import { fragment, identifier, join } from '../../src/storage/database/sql.ts'
import { instant } from '../../src/storage/database/wire.ts'
import { testDatabase } from '../support/database.ts'

const { db } = await testDatabase({ migrated: false })
const sql = db.read

describe('values', () => {
  test('come back exact', async () => {
    const row =
      await sql.one`select 42::bigint as small, 9007199254740993::bigint as large, 1.50::numeric(20, 8) as amount,
      '2024-03-12T14:00:00.123456Z'::timestamptz as at, '2024-03-12'::date as day, 'infinity'::timestamptz as never,
      array[1, 9007199254740993]::bigint[] as ids, array[1.10, null]::numeric[] as amounts,
      array['2024-03-12T14:00:00Z']::timestamptz[] as times, '{"a": [1]}'::jsonb as document, null::text as nothing`
    expect(row).toEqual({
      small: 42,
      large: 9007199254740993n,
      amount: '1.50000000',
      at: Date.parse('2024-03-12T14:00:00.123Z'),
      day: '2024-03-12',
      never: Number.POSITIVE_INFINITY,
      ids: [1, 9007199254740993n],
      amounts: ['1.10', null],
      times: [Date.parse('2024-03-12T14:00:00Z')],
      document: { a: [1] },
      nothing: null,
    })
  })

  test('scalars arrive as they were sent', async () => {
    const bytes = new Uint8Array([0, 1, 92, 255])
    const row =
      await sql.one`select ${dec('1e-12')}::numeric as amount, ${true}::boolean as flag, ${2n ** 62n}::bigint as large,
      ${bytes}::bytea as bytes, ${instant(1710252000123)}::timestamptz as at, ${undefined}::text as nothing`
    expect(row).toEqual({
      amount: '0.000000000001',
      flag: true,
      large: 2n ** 62n,
      bytes: Buffer.from(bytes),
      at: 1710252000123,
      nothing: null,
    })
  })

  test('text arrays survive any characters', async () => {
    const text = fc
      .string({ unit: 'binary' })
      .map((value) => Buffer.from(value.replaceAll('\u0000', '')).toString())
    const array = fc.array(
      fc.option(fc.oneof(text, fc.constantFrom('', 'NULL', '{}', '"', '\\', ',', ' a ')), { nil: null }),
    )
    await fc.assert(
      fc.asyncProperty(array, async (values) => {
        expect(await sql.one`select ${values}::text[] as values`).toEqual({ values })
      }),
    )
  })

  test('arrays of numbers, decimals, bytes and arrays', async () => {
    const row =
      await sql.one`select ${[1, 2n ** 53n, null]}::bigint[] as ids, ${[dec('0.1'), null]}::numeric[] as amounts,
      ${[Buffer.from('a"\\')]}::bytea[] as bytes, ${[[1, 2], [3, 4]]}::bigint[] as nested, ${[]}::bigint[] as empty`
    expect(row).toEqual({
      ids: [1, 2n ** 53n, null],
      amounts: ['0.1', null],
      bytes: [Buffer.from('a"\\')],
      nested: [
        [1, 2],
        [3, 4],
      ],
      empty: [],
    })
  })

  test('a value is never SQL', async () => {
    const hostile = `'; drop table x; --`
    expect(await sql.one`select ${hostile}::text as value`).toEqual({ value: hostile })
    expect(await sql.one`select 1 as ${identifier('a"b')}`).toEqual({ 'a"b': 1 })
  })
})

describe('statements', () => {
  test('fragments keep their parameters in order', async () => {
    const parts = [1, 2, 3].map((value) => fragment`${value}::int + ${value * 10}::int`)
    const inner = fragment`array[${join(parts, ', ')}]`
    expect(await sql.one`select ${0}::int as before, ${inner} as sums, ${9}::int as after`).toEqual({
      before: 0,
      sums: [11, 22, 33],
      after: 9,
    })
    expect(await sql.rows`select 1 as one ${join([], ', ')}`).toEqual([{ one: 1 }])
  })

  test('one and maybe insist on the number of rows', async () => {
    expect(await sql.maybe`select 1 where false`).toBeUndefined()
    await expect(sql.one`select 1 where false`).rejects.toThrow('expected one row, got none')
    await expect(sql.one`select generate_series(1, 2)`).rejects.toThrow('expected one row, got 2')
    await expect(sql.maybe`select generate_series(1, 2)`).rejects.toThrow('expected one row, got 2')
  })

  test('run counts the rows it wrote', async () => {
    await db.write.run`create table counted (id bigint)`
    expect(await db.write.run`insert into counted select generate_series(1, 5)`).toBe(5)
    expect(await db.write.run`delete from counted where id > ${3}`).toBe(2)
  })

  test('a failing statement disturbs no other on the same connection', async () => {
    const results = await Promise.allSettled(
      Array.from(
        { length: 40 },
        (_, index) => sql.one<{ value: number }>`select ${12}::int / ${index % 4}::int as value`,
      ),
    )
    const values = results.map((result) => (result.status === 'fulfilled' ? result.value.value : 'failed'))
    expect(values).toEqual(
      Array.from({ length: 40 }, (_, index) => (index % 4 ? Math.trunc(12 / (index % 4)) : 'failed')),
    )
  })
})
