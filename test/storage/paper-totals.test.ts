/** What the paper broker's executions add up to is kept with them, whatever becomes of them. */
import { expect, test } from 'vitest'
import type { Side } from '../../src/domain/codes.ts'
import { dec } from '../../src/domain/decimal.ts'
import {
  bustPaperExecution,
  deliverPaperReports,
  insertPaperExecutions,
  repeatPaperReport,
  sumPaperPositions,
} from '../../src/storage/brokers/paper-reports.ts'
import { testDatabase } from '../support/database.ts'

const { db } = await testDatabase()
await db.transaction(async (tx) => {
  await tx.run`set local session_replication_role = replica`
  await tx.run`insert into broker (name, connection_name, environment, adapter) values ('B', 'B', 'paper', 'paper')`
  await tx.run`
    insert into account (site_id, person_id, broker_id, broker_environment, kind, account, starting_cash, cash,
      settings_changed_at, created_at)
    select 1, 1, 1, 'paper', 1, n, 0, 0, now(), now() from generate_series(1, 3) n`
})

const execution = (execId: string, accountId: number, symbol: string, side: Side, quantity: string) => ({
  ...{ brokerId: 1, clientOrderId: null, px: dec(1), cumQty: null, at: 0 },
  ...{ execId, accountId, symbol, side, quantity: dec(quantity) },
})
const held = async () =>
  (await sumPaperPositions(db.read, [1, 2, 3])).map(({ accountId, symbol, quantity }) => [
    ...[accountId, symbol, Number(quantity)],
  ])

test('through executions, their repetition, taking back and another symbol', async () => {
  await insertPaperExecutions(db.write, [
    execution('a', 2, 'X', '1', '5'),
    execution('b', 1, 'X', '1', '0.5'),
    execution('c', 1, 'Y', '2', '3'),
    execution('d', 1, 'X', '1', '2'),
  ])
  const first = [
    [1, 'X', 2.5],
    [1, 'Y', -3],
    [2, 'X', 5],
  ]
  expect(await held()).toEqual(first)
  expect(await deliverPaperReports(db.write, 10)).toBe(4)
  expect(await repeatPaperReport(db.write, 'a')).toBe(true)
  expect(await held()).toEqual(first)
  for (const _ of [1, 2]) expect(await bustPaperExecution(db.write, 'c', 1)).toBe(true)
  await insertPaperExecutions(db.write, [execution('e', 2, 'X', '2', '1')])
  await db.write.run`update paper_report set symbol = 'Z' where symbol = 'X'`
  expect(await held()).toEqual([
    [1, 'Z', 2.5],
    [2, 'Z', 4],
  ])
  await db.write.run`delete from paper_report where account_id = 2`
  expect(await held()).toEqual([[1, 'Z', 2.5]])
})
