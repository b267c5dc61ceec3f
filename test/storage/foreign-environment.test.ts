/** The embedded server is ours alone: what the shell says of other PostgreSQL servers does not reach its clients. */
import { chmodSync, mkdtempSync, rmSync } from 'node:fs'
import { expect, test, vi } from 'vitest'
import { startPostgres } from '../../src/postgres/supervisor.ts'
import { openDatabase } from '../../src/storage/database/database.ts'
import { silentLog } from '../support/database-server.ts'

test('a client of the embedded server takes nothing from the environment', async () => {
  const folder = mkdtempSync('/tmp/lockstep-environment-')
  chmodSync(folder, 0o755)
  const foreign = {
    PGHOST: 'nowhere.invalid',
    PGPORT: '1',
    PGUSER: 'nobody',
    PGPASSWORD: 'wrong',
    PGDATABASE: 'none',
    PGSSLMODE: 'verify-full',
    PGOPTIONS: '-c search_path=elsewhere',
    PGSSLNEGOTIATION: 'direct',
    PGDATA: '/nowhere',
  }
  for (const [name, value] of Object.entries(foreign)) vi.stubEnv(name, value)
  const server = await startPostgres({ dataDir: `${folder}/data`, log: silentLog })
  try {
    const db = await openDatabase({ url: server.url, applicationName: 'tests', log: silentLog })
    const path = await db.read.one`select current_setting('search_path') as path`
    await db.close()
    expect(path).toEqual({ path: '"$user", public' })
  } finally {
    vi.unstubAllEnvs()
    await server.stop()
    rmSync(folder, { recursive: true, force: true })
  }
})
