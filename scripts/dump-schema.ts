/**
 * Writes src/storage/schema.sql: the schema that the migrations add up to. Run it after adding a migration;
 * a test holds the file against a freshly migrated database.
 */
import { mkdtempSync, rmSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { startPostgres } from '../src/postgres/supervisor.ts'
import { openDatabase } from '../src/storage/database.ts'
import { migrate } from '../src/storage/migrate.ts'
import { dumpSchema } from '../src/storage/schema-dump.ts'

const silent = { info: () => undefined, warn: () => undefined, error: () => undefined }
const folder = mkdtempSync(join(tmpdir(), 'lockstep-schema-'))
const server = await startPostgres({ dataDir: join(folder, 'postgres'), log: silent })
try {
  const database = await openDatabase({ url: server.url, applicationName: 'dump-schema', log: silent })
  await migrate(database)
  writeFileSync(join(import.meta.dirname, '../src/storage/schema.sql'), await dumpSchema(database.read))
  await database.close()
} finally {
  await server.stop()
  rmSync(folder, { recursive: true, force: true })
}
