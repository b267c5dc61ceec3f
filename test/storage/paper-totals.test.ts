/** What the paper broker's executions add up to is kept with them, whatever becomes of them. */
import { cpSync, mkdtempSync, rmSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
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
import type { Database } from '../../src/storage/database/database.ts'
import { migrate } from '../../src/storage/database/migrate.ts'
import { testDatabase } from '../support/database.ts'
import { holdLocks, untilWaiting } from '../support/locks.ts'

const migrations = 'src/storage/migrations'
const { db } = await testDatabase()
const { db: older } = await testDatabase({ migrated: false })
const open = (at: Database) =>
  at.transaction(async (tx) => {
    await tx.run`set local session_replication_role = replica`
    await tx.run`insert into broker (name, connection_name, environment, adapter) values ('B', 'B', 'paper', 'paper')`
    await tx.run`
      insert into account (site_id, person_id, broker_id, broker_environment, kind, account, starting_cash, cash,
        settings_changed_at, created_at)
      select 1, 1, 1, 'paper', 1, n, 0, 0, now(), now() from generate_series(1, 3) n`
  })
await open(db)

const execution = (execId: string, accountId: number, symbol: string, side: Side, quantity: string) => ({
  brokerId: 1,
  clientOrderId: null,
  px: dec(1),
  cumQty: null,
  at: 0,
  execId,
  accountId,
  symbol,
  side,
  quantity: dec(quantity),
})
const held = async (at = db) =>
  (await sumPaperPositions(at.read, [1, 2, 3])).map(({ accountId, symbol, quantity }) => [
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
})

test('they begin with what a worker tells of while the schema is brought forward', async () => {
  const earlier = mkdtempSync(join(tmpdir(), 'lockstep-migrations-'))
  const isEarlier = (path: string): boolean => !path.endsWith('.sql') || path < join(migrations, '0065')
  cpSync(migrations, earlier, { recursive: true, filter: isEarlier })
  await migrate(older, earlier)
  rmSync(earlier, { recursive: true })
  await open(older)
  await insertPaperExecutions(older.write, [execution('a', 1, 'X', '1', '5')])
  const commit = await holdLocks(older, (tx) =>
    insertPaperExecutions(tx, [execution('b', 1, 'X', '1', '2'), execution('c', 2, 'Y', '2', '3')]),
  )
  const migrated = migrate(older)
  await untilWaiting(older.read)
  await commit()
  await migrated
  expect(await held(older)).toEqual([
    [1, 'X', 7],
    [2, 'Y', -3],
  ])
})
