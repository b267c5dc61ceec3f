/**
 * The door's own database. The door empties whatever it works in, so it never works in the database it is
 * given: it makes one of its own name on the same server.
 */
import { type Database, type DatabaseOptions, openDatabase } from '../storage/database/database.ts'
import { migrate } from '../storage/database/migrate.ts'
import { identifier } from '../storage/database/sql.ts'

/** The name under which a test platform keeps its rows. */
export const doorDatabase = 'lockstep_door'

/** Opens the door's database on a server, made and migrated where that is needed. */
export async function openDoorDatabase(
  serverUrl: string,
  name: string,
  log: DatabaseOptions['log'],
): Promise<Database> {
  if (!name.startsWith(doorDatabase)) throw new Error(`a test platform does not work in the database ${name}`)
  const small = { log, poolSize: 1, readers: 1 }
  const server = await openDatabase({ url: serverUrl, applicationName: 'lockstep door setup', ...small })
  try {
    const isThere = await server.read.maybe`select 1 from pg_database where datname = ${name}`
    if (!isThere) await server.write.run`create database ${identifier(name)}`
  } finally {
    await server.close()
  }
  const db = await openDatabase({ url: urlOf(serverUrl, name), applicationName: 'lockstep door', log })
  try {
    await migrate(db)
    return db
  } catch (error) {
    await db.close()
    throw error
  }
}

/** The same server, another database; also for addresses whose host is a folder in the query. */
function urlOf(serverUrl: string, name: string): string {
  const [, before, query = ''] = /^([a-z]+:\/\/[^/]*)(?:\/[^?]*)?(\?.*)?$/.exec(serverUrl) ?? []
  if (before === undefined) throw new Error('the address of the database server cannot be read')
  return `${before}/${name}${query}`
}
