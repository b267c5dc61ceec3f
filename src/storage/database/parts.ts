/** Many rows of one table, some thousand to a statement. */
import { setImmediate as turn } from 'node:timers/promises'
import { chunked } from '../../domain/group.ts'

/** Rows of one statement: what a socket takes in at once, so that it has left before the next rows are made. */
const rowsAtOnce = 2_000

/**
 * Writes rows part by part, in order. The next part is asked for and made while the server writes the one before; no
 * more than two are on their way. Throws what writing the first that fails throws.
 */
export async function writeInParts<Row>(
  rows: Iterable<Row>,
  write: (part: Row[]) => Promise<unknown>,
): Promise<void> {
  let before: Promise<unknown> = Promise.resolve()
  let last = before
  for (const part of chunked(rows, rowsAtOnce)) {
    await before
    before = last
    last = write(part)
    last.catch(() => undefined) // thrown where it is awaited, which may be a turn too late to count as handled
    // Lets the statement leave.
    await turn()
  }
  await before
  await last
}
