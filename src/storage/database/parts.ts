/** Many rows of one table, some thousand to a statement. */
import { setImmediate as turn } from 'node:timers/promises'
import { chunked } from '../../domain/group.ts'

/** Rows of one statement: what a socket takes in at once, so that it has left before the next rows are made. */
const rowsAtOnce = 2_000
/** Rows that are read at once: as many as the longest page has. */
const readAtOnce = 1_000

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

/**
 * Reads rows in the order of a key that none comes behind later, part by part: a history is longer than a statement may
 * take, and than should be held. `next` reads the first `limit` rows beyond `last`, or of all.
 */
export async function* readInParts<Row>(
  next: (limit: number, last: Row | undefined) => Promise<Row[]>,
): AsyncGenerator<Row[]> {
  for (let last: Row | undefined; ; ) {
    const part = await next(readAtOnce, last)
    if (part.length > 0) yield part
    if (part.length < readAtOnce) return
    last = part.at(-1)
  }
}

/** Rows that were read at once, part by part: others have their turn between the parts. */
export async function* inParts<Row>(rows: readonly Row[]): AsyncGenerator<Row[]> {
  let isFirst = true
  for (const part of chunked(rows, readAtOnce)) {
    if (!isFirst) await turn()
    isFirst = false
    yield part
  }
}
