/** What many accounts were worth on a day of long ago is found without reading all their days. */
import { expect, test } from 'vitest'
import { dec } from '../../src/domain/decimal.ts'
import { endOfDay } from '../../src/domain/market/trading-day.ts'
import { readDay } from '../../src/domain/time.ts'
import { loadClosedValues } from '../../src/storage/accounts/account-values.ts'
import { makeSql } from '../../src/storage/database/sql.ts'
import { testDatabase } from '../support/database.ts'

const { db } = await testDatabase({ migrated: false })
const accounts = Array.from({ length: 20 }, (_, at) => at + 1)
const day = readDay('2021-06-30') ?? 0

test('the last day of each is looked for, and no other one read', async () => {
  await db.transaction(async (tx) => {
    await tx.script(`create table account_day (account_id bigint, day date, value numeric, primary key (account_id, day));
      insert into account_day select a, date '2020-01-01' + d, d
      from generate_series(1, 20) a, generate_series(1, 700) d`)
  })
  await db.write.run`analyze account_day`
  const counts: number[] = []
  await db.transaction(async (tx) => {
    const explain = makeSql(async ({ text, values }) => {
      const given = values
        .map((value) => `'${Array.isArray(value) ? `{${value}}` : String(value)}'`)
        .join(', ')
      await tx.script(`prepare closed as ${text}`)
      const how = { strings: [`explain (analyze, format json) execute closed (${given})`], values: [] }
      const plan = JSON.stringify(await tx.rows`${how}`)
      for (const [, rows, loops] of plan.matchAll(/"Actual Rows":([\d.]+),"Actual Loops":(\d+)/g))
        counts.push(Number(rows) * Number(loops))
      return { rows: [], rowCount: 0, command: '' }
    })
    await loadClosedValues(explain, accounts, { day, at: endOfDay(day) })
  })
  expect(Math.max(...counts)).toBe(accounts.length)
  const found = await loadClosedValues(db.read, [...accounts, 99], { day, at: endOfDay(day) })
  expect([...found]).toEqual(accounts.map((id) => [id, { value: dec(546), day }]))
})
