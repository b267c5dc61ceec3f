/**
 * What a copy of the server's files needs of the server while it goes on working: it keeps the log from where the copy
 * has to be replayed, and says where that is.
 * See "Making a Base Backup Using the Low Level API" in the manual of PostgreSQL.
 */
import pg from 'pg'

/** What makes files that were copied one after the other into the state of one moment. */
export interface Replay {
  /** Content of the file `backup_label`. */
  readonly label: string
  /** First and last file of the write-ahead log that belongs to the copy. */
  readonly firstLog: string
  readonly lastLog: string
}

interface Copying {
  /** Copies everything but the log; the server may write meanwhile. */
  copyFiles(): Promise<void>
  /** Copies the log and keeps the label. */
  copyLog(replay: Replay): Promise<void>
}

/** Leads a copy of the files of the server at `url`. What was committed before `copyLog` is in it. */
export async function leadBackup(url: string, { copyFiles, copyLog }: Copying): Promise<void> {
  const client = new pg.Client({ connectionString: url, application_name: 'lockstep backup' })
  // Told by the statement that fails next.
  client.on('error', () => undefined)
  await client.connect()
  try {
    // Until the session ends the server removes no log that comes after this.
    await client.query(`select pg_create_physical_replication_slot($1, true, true)`, [
      `lockstep_backup_${process.pid}`,
    ])
    const [start] = (
      await client.query(`select pg_walfile_name(pg_backup_start('lockstep backup', fast => true)) as log`)
    ).rows
    await copyFiles()
    const [stop] = (await client.query(`select labelfile from pg_backup_stop(wait_for_archive => false)`))
      .rows
    const [end] = (await client.query(`select pg_walfile_name(pg_current_wal_lsn()) as log`)).rows
    await copyLog({ label: stop.labelfile, firstLog: start.log, lastLog: end.log })
  } finally {
    await client.end()
  }
}
