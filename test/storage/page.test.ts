/**
 * The promise of a scan, with writers that keep transactions open across reads: what was there at the start
 * and what was committed before the last page comes exactly once, whatever its key; newest first, what is newer than
 * the first row does not come at all.
 */
import fc from 'fast-check'
import { beforeEach, describe, expect, test } from 'vitest'
import { type Page, page } from '../../src/storage/database/page.ts'
import { fragment, makeSql, type Sql } from '../../src/storage/database/sql.ts'
import { testDatabase } from '../support/database.ts'

type Order = 'asc' | 'desc'
interface Row {
  id: number
}

const { db } = await testDatabase({ migrated: false })
await db.transaction((tx) =>
  tx.script(`create table entry (
    id bigint primary key, posted_at timestamptz not null, kind text not null,
    xid xid8 not null default pg_current_xact_id()
  )`),
)
beforeEach(async () => {
  await db.write.run`delete from entry`
})

const base = { secret: 'secret', operation: 'List', filters: '{}', keyId: 'k1', now: 1_000_000, limit: 3 }
const id = { column: fragment`entry.id`, type: 'bigint' } as const
/** Several rows share each time, so both columns of the key matter; microseconds must survive the cursor. */
const postedAt = { column: fragment`entry.posted_at`, type: 'timestamptz' } as const
const keys = { 'one column': [id], 'time and id': [postedAt, id] }
const timeOf = (value: number) => `2024-01-01T00:00:00.${String(Math.floor(value / 4)).padStart(6, '0')}Z`

async function read(
  order: Order,
  key: keyof typeof keys,
  cursor?: string,
  more: object = {},
  sql: Sql = db.read,
): Promise<Page<Row>> {
  const query = {
    select: fragment`entry.id`,
    from: fragment`entry`,
    where: fragment`entry.kind = ${'a'} or entry.kind = ${'b'}`,
    xid: fragment`entry.xid`,
    table: fragment`entry`,
    key: keys[key],
  }
  const found = await page<Row>(sql, { ...base, order, ...more, cursor }, query)
  if (typeof found === 'string') throw new Error(found)
  return found
}

const ids = (found: Page<Row>): number[] => found.rows.map((row) => row.id)

async function insert(...values: number[]): Promise<void> {
  await db.write.run`insert into entry (id, posted_at, kind)
    select * from unnest(${values}::bigint[], ${values.map(timeOf)}::timestamptz[], ${values.map(() => 'a')}::text[])`
}

/** A writer that has inserted and not committed. */
async function openWriter(...values: number[]): Promise<{ end(how: 'commit' | 'rollback'): Promise<void> }> {
  let finish: (how: 'commit' | 'rollback') => void = () => undefined
  const decided = new Promise<'commit' | 'rollback'>((resolve) => {
    finish = resolve
  })
  let inserted: () => void = () => undefined
  const ready = new Promise<void>((resolve) => {
    inserted = resolve
  })
  const done = db
    .transaction(async (tx) => {
      await tx.run`insert into entry (id, posted_at, kind) select value, time, 'b'
        from unnest(${values}::bigint[], ${values.map(timeOf)}::timestamptz[]) as given (value, time)`
      inserted()
      if ((await decided) === 'rollback') throw new RangeError('rolled back')
    })
    .catch((error) => {
      if (!(error instanceof RangeError)) throw error
    })
  await ready
  return {
    end: (how) => {
      finish(how)
      return done
    },
  }
}

const upTo = (count: number): number[] => Array.from({ length: count }, (_, index) => index + 1)
const inOrder = (values: readonly number[], order: Order): number[] =>
  [...values].sort((a, b) => (order === 'asc' ? a - b : b - a))

const cases = (['asc', 'desc'] as const).flatMap((order) =>
  (Object.keys(keys) as (keyof typeof keys)[]).map((key) => [order, key] as const),
)

describe.each(cases)('%s by %s', (order, key) => {
  test('a still table is walked page by page and back', async () => {
    await insert(...upTo(11))
    const pages: Page<Row>[] = [await read(order, key)]
    for (let next = pages[0]!.next; next; next = pages.at(-1)!.next) pages.push(await read(order, key, next))
    expect(pages.flatMap(ids)).toEqual(inOrder(upTo(11), order))
    expect(pages.map((found) => found.rows.length)).toEqual([3, 3, 3, 2])
    expect(pages[0]!.prev).toBeNull()
    let current = pages.at(-1)!
    for (const expected of pages.slice(0, -1).reverse()) {
      const back = await read(order, key, current.prev ?? '')
      expect(ids(back)).toEqual(ids(expected))
      expect(ids(await read(order, key, back.next ?? ''))).toEqual(ids(current))
      current = back
    }
    expect(current.prev).toBeNull()
  })

  test('a page that ends exactly with the table has no next', async () => {
    await insert(...upTo(3))
    expect(await read(order, key)).toMatchObject({ next: null, prev: null })
    await db.write.run`delete from entry`
    expect(await read(order, key)).toEqual({ rows: [], next: null, prev: null })
  })

  test('a row behind the cursor that commits late comes once, on the next page', async () => {
    await insert(10, 20, 30, 40, 50, 60)
    const passed = order === 'asc' ? 15 : 55
    const writer = await openWriter(passed)
    const first = await read(order, key)
    await writer.end('commit')
    const second = await read(order, key, first.next ?? '')
    const third = await read(order, key, second.next ?? '')
    expect(ids(second)[0]).toBe(passed)
    expect([first, second, third].flatMap(ids).sort((a, b) => a - b)).toEqual(
      [10, 15, 20, 30, 40, 50, 60, 55]
        .filter((value) => value !== (order === 'asc' ? 55 : 15))
        .sort((a, b) => a - b),
    )
    expect(third.next).toBeNull()
    // And back from the page with the late row: the page before it, unchanged.
    expect(ids(await read(order, key, second.prev ?? ''))).toEqual(ids(first))
  })

  test('pages come in order, and to an end, while others are being inserted', async () => {
    await insert(...upTo(9))
    const pages: Page<Row>[] = [await read(order, key)]
    for (let next = pages[0]!.next; next && pages.length < 20; next = pages.at(-1)!.next) {
      if (pages.length < 3) await insert(...upTo(4).map((value) => pages.length * 10 + value))
      pages.push(await read(order, key, next))
    }
    const all = order === 'asc' ? [...upTo(9), 11, 12, 13, 14, 21, 22, 23, 24] : upTo(9)
    expect(pages.flatMap(ids)).toEqual(inOrder(all, order))
    const back = await read(order, key, pages.at(-1)!.prev ?? '')
    expect(ids(back)).toEqual(ids(pages.at(-2)!))
    expect(ids(await read(order, key, pages[1]!.prev ?? ''))).toEqual(ids(pages[0]!))
  })

  test('a page full of late rows keeps the stretches beyond it', async () => {
    await insert(...upTo(40).map((value) => value * 10))
    const [before, after] = order === 'asc' ? [[11, 12, 13, 14], 45] : [[399, 398, 397, 396], 355]
    const writers = [await openWriter(...before), await openWriter(after)]
    const first = await read(order, key, undefined, { limit: 10 })
    await writers[0]!.end('commit')
    const second = await read(order, key, first.next ?? '', { limit: 3 })
    expect(ids(second)).toEqual(before.slice(0, 3))
    await writers[1]!.end('commit')
    const third = await read(order, key, second.next ?? '', { limit: 3 })
    expect(ids(third).slice(0, 2)).toEqual([before[3], after])
    const rest: number[] = []
    for (let next = third.next; next; ) {
      const found = await read(order, key, next, { limit: 10 })
      rest.push(...ids(found))
      next = found.next
    }
    expect(
      [first, second, third]
        .flatMap(ids)
        .concat(rest)
        .sort((a, b) => a - b),
    ).toEqual([...upTo(40).map((value) => value * 10), ...before, after].sort((a, b) => a - b))
  })
})

const step = fc.oneof(
  {
    weight: 3,
    arbitrary: fc.record({ kind: fc.constant('page' as const), limit: fc.integer({ min: 1, max: 4 }) }),
  },
  {
    weight: 2,
    arbitrary: fc.record({ kind: fc.constant('open' as const), count: fc.integer({ min: 1, max: 3 }) }),
  },
  {
    weight: 2,
    arbitrary: fc.record({
      kind: fc.constant('end' as const),
      how: fc.constantFrom('commit' as const, 'commit' as const, 'rollback' as const),
      pick: fc.nat(),
    }),
  },
  { weight: 1, arbitrary: fc.constant({ kind: 'back' as const }) },
)

describe.each(cases)('%s by %s, at random', (order, key) => {
  test('nothing is lost and nothing comes twice', async () => {
    const plan = fc.record({
      values: fc.uniqueArray(fc.integer({ min: 1, max: 99 }), { minLength: 25, maxLength: 40 }),
      initial: fc.integer({ min: 0, max: 15 }),
      steps: fc.array(step, { maxLength: 25 }),
    })
    await fc.assert(
      fc.asyncProperty(plan, async ({ values, initial, steps }) => {
        await db.write.run`delete from entry`
        const unused = [...values]
        await insert(...unused.splice(0, initial))
        const writers: Awaited<ReturnType<typeof openWriter>>[] = []
        const delivered: number[] = []
        let last: Page<Row> | undefined
        const next = async (limit: number) => {
          last = await read(order, key, last?.next ?? undefined, { limit })
          expect(ids(last)).toEqual(inOrder(ids(last), order))
          delivered.push(...ids(last))
        }
        for (const taken of steps) {
          if (taken.kind === 'page' && last?.next !== null) await next(taken.limit)
          if (taken.kind === 'open' && unused.length >= taken.count && writers.length < 5) {
            writers.push(await openWriter(...unused.splice(0, taken.count)))
          }
          if (taken.kind === 'end' && writers.length > 0) {
            await writers.splice(taken.pick % writers.length, 1)[0]!.end(taken.how)
          }
          if (taken.kind === 'back' && last) {
            const before: number[] = []
            for (let prev = last.prev; prev; ) {
              const back = await read(order, key, prev)
              before.unshift(...ids(back))
              prev = back.prev
            }
            const earlier = delivered.slice(0, delivered.length - last.rows.length)
            expect(before).toEqual(inOrder(earlier, order))
          }
        }
        if (last?.next !== null) {
          for (const writer of writers.splice(0)) await writer.end('commit')
          do await next(3)
          while (last?.next)
          const there = await db.read.rows<Row>`select id from entry order by id`
          const newest =
            order === 'asc' ? Number.POSITIVE_INFINITY : (delivered[0] ?? Number.POSITIVE_INFINITY)
          const due = there.map((row) => row.id).filter((value) => value <= newest)
          expect([...delivered].sort((a, b) => a - b)).toEqual(due)
        }
        for (const writer of writers) await writer.end('rollback')
        expect(new Set(delivered).size).toBe(delivered.length)
      }),
      { numRuns: 40 },
    )
  }, 120_000)
})

test('a late page does not look through what was read before', async () => {
  const [rows, limit] = [20_000, 5_000]
  await db.write.run`create index entry_xid on entry (xid)`
  await insert(...Array.from({ length: rows }, (_, place) => place + 1))
  await db.write.run`analyze entry`
  // Transactions are counted over all databases of the server: one that is open elsewhere keeps these rows new.
  await expect
    .poll(
      () =>
        db.read.one`select min(pg_snapshot_xmin(pg_current_snapshot())) > max(xid) as "areOld" from entry`,
      { timeout: 30_000 },
    )
    .toEqual({ areOld: true })
  let cursor: string | undefined
  for (let seen = limit; seen < rows; seen += limit)
    cursor = (await read('asc', 'one column', cursor, { limit })).next ?? undefined
  const removed: number[] = []
  await db.transaction(async (tx) => {
    await tx.run`set local plan_cache_mode = force_generic_plan`
    const explain = makeSql(async ({ text, values }) => {
      const given = values.map((value) => `'${String(value)}'`).join(', ')
      await tx.script(`prepare late as ${text}`)
      const how = { strings: [`explain (analyze, format json) execute late (${given})`], values: [] }
      const plan = JSON.stringify(await tx.rows`${how}`)
      for (const [, count] of plan.matchAll(/"Rows Removed by Filter":(\d+)/g)) removed.push(Number(count))
      return { rows: [], rowCount: 0, command: '' }
    })
    await read('asc', 'one column', cursor, { limit }, explain)
  })
  await db.write.run`drop index entry_xid`
  expect(Math.max(...removed)).toBe(0)
})

describe('a cursor', () => {
  const query = {
    select: fragment`entry.id`,
    from: fragment`entry`,
    where: fragment`true`,
    xid: fragment`entry.xid`,
    table: fragment`entry`,
    key: [id],
  }
  const request = { ...base, order: 'asc' } as const

  test.each([
    ['of another operation', { operation: 'Other' }, 'CursorInvalid'],
    ['with other filters', { filters: '{"a":1}' }, 'CursorInvalid'],
    ['of another key', { keyId: 'k2' }, 'CursorInvalid'],
    ['an hour and a millisecond old', { now: base.now + 3_600_001 }, 'CursorExpired'],
  ])('%s is refused', async (_, change, refusal) => {
    await insert(...upTo(5))
    const first = await page<Row>(db.read, request, query)
    if (typeof first === 'string') throw new Error(first)
    expect(await page(db.read, { ...request, ...change, cursor: first.next ?? '' }, query)).toBe(refusal)
  })

  test('an empty cursor is not the first page', async () => {
    expect(await page(db.read, { ...request, cursor: '' }, query)).toBe('CursorInvalid')
  })
})
