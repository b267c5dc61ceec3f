/**
 * Everything committed that is derived: the OpenAPI documents, the error catalogue, the table of floors and the
 * dump of the schema. `--check` writes nothing and fails when a file is not what this would write.
 */
import { existsSync, mkdirSync, mkdtempSync, readFileSync, rmSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { dirname, join } from 'node:path'
import { startPostgres } from '../src/postgres/supervisor.ts'
import { openDatabase } from '../src/storage/database/database.ts'
import { migrate } from '../src/storage/database/migrate.ts'
import { dumpSchema } from '../src/storage/database/schema-dump.ts'
import { generatedFiles } from '../test/contract/generated.ts'
import { withFloorTable } from '../test/support/floor-table.ts'

const silent = { info: () => undefined, warn: () => undefined, error: () => undefined }

/** The schema that the migrations add up to, read from a database made for it. */
async function schema(): Promise<string> {
  const folder = mkdtempSync(join(tmpdir(), 'lockstep-schema-'))
  const server = await startPostgres({ dataDir: join(folder, 'postgres'), log: silent })
  try {
    const database = await openDatabase({ url: server.url, applicationName: 'generate', log: silent })
    await migrate(database)
    const text = await dumpSchema(database.read)
    await database.close()
    return text
  } finally {
    await server.stop()
    rmSync(folder, { recursive: true, force: true })
  }
}

const architecture = 'docs/architecture.md'
const files = new Map([
  ...generatedFiles(),
  [architecture, withFloorTable(readFileSync(architecture, 'utf8'))],
  ['src/storage/schema.sql', await schema()],
])
const stale = [...files].filter(([path, text]) => !existsSync(path) || readFileSync(path, 'utf8') !== text)
if (process.argv.includes('--check')) {
  for (const [path] of stale) console.error(`${path} is not what its source says; run npm run generate`)
  process.exitCode = stale.length === 0 ? 0 : 1
} else {
  for (const [path, text] of stale) {
    mkdirSync(dirname(path), { recursive: true })
    writeFileSync(path, text)
    console.log(`wrote ${path}`)
  }
}
