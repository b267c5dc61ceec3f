/**
 * One embedded server for a whole test run, in a temporary folder, with one migrated database that the
 * database of every test file is copied from. When that fails, only the tests that need it fail, with the reason.
 */
import { chmodSync, mkdtempSync, rmSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import type { TestProject } from 'vitest/node'
import { type Postgres, startPostgres } from '../../src/postgres/supervisor.ts'
import { openDatabase } from '../../src/storage/database/database.ts'
import { migrate } from '../../src/storage/database/migrate.ts'
import { databaseUrl, silentLog, TEMPLATE } from './database-server.ts'

declare module 'vitest' {
  interface ProvidedContext {
    databaseServer: { url: string; failure: string | null }
  }
}

/** Starts the server before the run and returns what ends it. */
export default async function setup(project: TestProject): Promise<() => Promise<void>> {
  const folder = mkdtempSync(join(tmpdir(), 'lockstep-test-'))
  chmodSync(folder, 0o755) // the server may run as another user and has to pass through
  let server: Postgres | undefined
  try {
    server = await startPostgres({ dataDir: join(folder, 'postgres'), log: silentLog })
    await makeTemplate(server.url)
    project.provide('databaseServer', { url: server.url, failure: null })
  } catch (error) {
    project.provide('databaseServer', { url: server?.url ?? '', failure: String(error) })
  }
  return async () => {
    await server?.stop()
    rmSync(folder, { recursive: true, force: true })
  }
}

async function makeTemplate(url: string): Promise<void> {
  const slow = { statementTimeoutMs: 60_000 }
  const admin = await openDatabase({ url, applicationName: 'tests', log: silentLog, ...slow })
  await admin.write.run`create database lockstep_template`
  await admin.close()
  const template = await openDatabase({
    url: databaseUrl(url, TEMPLATE),
    applicationName: 'tests',
    log: silentLog,
  })
  await migrate(template)
  await template.close()
}
