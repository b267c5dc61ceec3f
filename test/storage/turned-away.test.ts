/** A database that was there and does not let us in for a while. */
import { randomUUID } from 'node:crypto'
import pg from 'pg'
import { expect, test } from 'vitest'
import { openDatabase } from '../../src/storage/database/database.ts'
import { DatabaseUnavailable, isConnectionLoss, translate } from '../../src/storage/database/failure.ts'
import { testDatabase } from '../support/database.ts'
import { silentLog } from '../support/database-server.ts'

const { db, url } = await testDatabase()

test('a standby is away', () => {
  const told = { code: '0A000', routine: 'call_bool_check_hook' }
  const refused = Object.assign(new pg.DatabaseError('no', 0, 'error'), told)
  expect(translate(refused)).toBeInstanceOf(DatabaseUnavailable)
})

test('a server that goes down over a file of its own is away, and what it was told may be done', () => {
  const told = { code: 'XX000', severity: 'PANIC' }
  const failure = Object.assign(new pg.DatabaseError('could not write', 0, 'error'), told)
  expect([translate(failure), isConnectionLoss(failure)]).toEqual([expect.any(DatabaseUnavailable), true])
})

test('a database that let us in and then turns us away is away', async () => {
  const role = `r${randomUUID().replaceAll('-', '')}`
  await db.transaction((tx) => tx.script(`create role ${role} login password 'x'`))
  const theirs = url.replace(/\/\/[^@]*@/, `//${role}:x@`)
  const guest = await openDatabase({ url: theirs, applicationName: role, log: silentLog })
  const cutOff = () => db.write.run`
    select pg_terminate_backend(pid, 5000) from pg_stat_activity where application_name = ${role}`
  try {
    await db.transaction((tx) => tx.script(`alter role ${role} nologin`))
    await cutOff()
    await expect(guest.read.run`select 1`).rejects.toBeInstanceOf(DatabaseUnavailable)
    await expect(guest.transaction((tx) => tx.run`select 1`)).rejects.toBeInstanceOf(DatabaseUnavailable)
    await db.transaction((tx) => tx.script(`alter role ${role} login`))
    expect(await guest.read.run`select 1`).toBe(1)
    expect(await guest.transaction((tx) => tx.run`select 1`)).toBe(1)
  } finally {
    await guest.close()
    await db.transaction((tx) => tx.script(`drop role ${role}`))
  }
})
