/** COPY FROM STDIN over the driver's own connection, which has no function for it. */
import type pg from 'pg'

interface CopyConnection {
  query(text: string): void
  sendCopyFromChunk(chunk: Buffer): void
  endCopyFrom(): void
}

/** Sends ready bytes through `copy ... from stdin`; resolves when the server has taken them all. */
export function copyIn(client: pg.Client, statement: string, bytes: Buffer): Promise<void> {
  return new Promise((resolve, reject) => {
    const task = {
      callback: undefined,
      submit: (connection: CopyConnection) => connection.query(statement),
      handleCopyInResponse: (connection: CopyConnection) => {
        connection.sendCopyFromChunk(bytes)
        connection.endCopyFrom()
      },
      handleCommandComplete: () => undefined,
      handleReadyForQuery: () => resolve(),
      handleError: (error: Error) => reject(error),
    }
    client.query(task as unknown as pg.Submittable)
  })
}
