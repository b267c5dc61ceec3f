/** Whether a running server lets anybody in. */
import pg from 'pg'

/** "The database system is not yet accepting connections", or is starting up, in the server's own code. */
const cannotConnectNow = '57P03'
const answerMs = 5_000

/** True where it answers that it lets nobody in yet. One that gives another answer, or none, is not shut. */
export async function isShut(url: string): Promise<boolean> {
  const client = new pg.Client({ connectionString: url, connectionTimeoutMillis: answerMs })
  client.on('error', () => undefined)
  try {
    await client.connect()
    return false
  } catch (error) {
    return error instanceof pg.DatabaseError && error.code === cannotConnectNow
  } finally {
    client.end().catch(() => undefined)
  }
}
