/**
 * What a copy of the server's files needs of the server while it goes on working: it keeps the log from where the copy
 * has to be replayed, and says where that is.
 * See "Making a Base Backup Using the Low Level API" in the manual of PostgreSQL.
 */
import pg from 'pg'
import { translate } from '../database/failure.ts'

/** What makes files that were copied one after the other into the state of one moment. */
export interface Replay {
  /** Content of the file `backup_label`. */
  readonly label: string
  /** First and last file of the write-ahead log that belongs to the copy. */
  readonly firstLog: string
  readonly lastLog: string
}

/** What the server does for a copy of its files. */
export interface Copying {
  /** The files may be copied from here on; the server may write meanwhile. */
  begin(): Promise<void>
  /** All files but the log are copied; what was committed before is in the copy. */
  end(): Promise<Replay>
}

/** Serves one copy of the files of the server at `url`. Throws where another one is being made. */
export async function leadBackup(url: string, copy: (server: Copying) => Promise<void>): Promise<void> {
  const client = new pg.Client({ connectionString: url, application_name: 'lockstep backup' })
  // Told by the statement that fails next.
  client.on('error', () => undefined)
  await client.connect()
  try {
    await reserveLog(client)
    let firstLog = ''
    const begin = async () => {
      const start = `select pg_walfile_name(pg_backup_start('lockstep backup', fast => true)) as log`
      firstLog = (await ask(client, start)).rows[0].log
    }
    const end = async () => {
      const stop = await ask(client, `select labelfile from pg_backup_stop(wait_for_archive => false)`)
      const last = await ask(client, `select pg_walfile_name(pg_current_wal_lsn()) as log`)
      return { label: stop.rows[0].labelfile, firstLog, lastLog: last.rows[0].log }
    }
    await copy({ begin, end })
  } finally {
    await client.end()
  }
}

/** A server whose disk is full, or that ends, is told of as everywhere. */
const ask = (client: pg.Client, statement: string) =>
  client.query(statement).catch((error: unknown) => {
    throw translate(error)
  })

const duplicateObject = '42710'

/** Until the session ends the server removes no log that comes after this, and no other session comes this far. */
async function reserveLog(client: pg.Client): Promise<void> {
  try {
    await ask(client, `select pg_create_physical_replication_slot('lockstep_backup', true, true)`)
  } catch (error) {
    if ((error as pg.DatabaseError).code !== duplicateObject) throw error
    throw new Error('another copy of this platform is being made: wait for it', { cause: error })
  }
}
