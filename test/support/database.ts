/**
 * A database of its own for a test file, freshly migrated. Call it at the top of the file; it is dropped when
 * the file's tests are over, and the file fails when a connection is still in use by then.
 */
import { randomBytes } from 'node:crypto'
import { afterAll, inject } from 'vitest'
import { type Database, openDatabase } from '../../src/storage/database.ts'
import { databaseUrl, silentLog, TEMPLATE } from './database-server.ts'

export interface TestDatabase {
  readonly db: Database
  readonly url: string
}

/** `migrated: false` gives an empty database. */
export async function testDatabase(options: { migrated?: boolean } = {}): Promise<TestDatabase> {
  const { url: serverUrl, failure } = inject('databaseServer')
  if (failure !== null && (serverUrl === '' || options.migrated !== false)) {
    throw new Error(`there is no migrated test database: ${failure}`)
  }
  const name = `test_${randomBytes(8).toString('hex')}`
  await administer(
    serverUrl,
    `create database ${name} template ${options.migrated === false ? 'template0' : TEMPLATE}`,
  )
  const url = databaseUrl(serverUrl, name)
  const db = await openDatabase({ url, applicationName: 'tests', log: silentLog })
  afterAll(async () => {
    const { inUse } = db.connections()
    if (inUse > 0) throw new Error(`${inUse} database connections are still in use`)
    await db.close()
    await administer(serverUrl, `drop database ${name}`)
  })
  return { db, url }
}

/** Waits for sessions that are just ending; drop and create refuse while others are connected. */
async function administer(url: string, command: string): Promise<void> {
  const admin = await openDatabase({ url, applicationName: 'tests', log: silentLog, poolSize: 1, readers: 1 })
  try {
    const strings = Object.assign([command], { raw: [command] })
    await admin.write.run(strings)
  } finally {
    await admin.close()
  }
}
