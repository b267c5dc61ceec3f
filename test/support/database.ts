/**
 * A database of its own for a test file, freshly migrated. Call it at the top of the file; it is dropped when
 * the file's tests are over, and the file fails when a connection is still in use by then.
 */
import { randomBytes } from 'node:crypto'
import { inject } from 'vitest'
import { type Database, openDatabase } from '../../src/storage/database/database.ts'
import { identifier } from '../../src/storage/database/sql.ts'
import { afterFile } from './after-file.ts'
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
  await createDatabase(serverUrl, name, options.migrated === false ? 'template0' : TEMPLATE)
  const url = databaseUrl(serverUrl, name)
  // Beside other test files a connection is made as fast as the machine is free: nothing that a test is about.
  const waitMs = 10_000
  const db = await openDatabase({ url, applicationName: 'tests', log: silentLog, waitMs })
  afterFile(async () => {
    const { inUse } = db.connections()
    if (inUse > 0) throw new Error(`${inUse} database connections are still in use`)
    await db.close()
    await dropDatabase(serverUrl, name)
  })
  return { db, url }
}

/** Makes a database on the server, already migrated. */
export async function createDatabase(serverUrl: string, name: string, template = TEMPLATE): Promise<void> {
  await administer(
    serverUrl,
    (admin) => admin.write.run`create database ${identifier(name)} template ${identifier(template)}`,
  )
}

async function administer<T>(url: string, work: (admin: Database) => Promise<T>): Promise<T> {
  // A database is copied as fast as the machine is free.
  const statementTimeoutMs = 60_000
  const small = { poolSize: 1, readers: 1, statementTimeoutMs }
  const admin = await openDatabase({ url, applicationName: 'tests', log: silentLog, ...small })
  try {
    return await work(admin)
  } finally {
    await admin.close()
  }
}

/** Ends a database. The server waits some seconds for sessions that are just ending. Then names those that do not. */
export function dropDatabase(url: string, name: string): Promise<void> {
  return administer(url, async (admin) => {
    await admin.write.run`drop database ${identifier(name)}`.catch(async (error) => {
      const left = await admin.read
        .rows`select application_name, state, query from pg_stat_activity where datname = ${name}`
      throw left.length > 0 ? new Error(`connections were left open: ${JSON.stringify(left)}`) : error
    })
  })
}
