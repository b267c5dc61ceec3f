/**
 * Reads a request's body up to a size. What is too large is read on for a while and thrown away, so that the
 * caller gets to see the answer instead of a broken connection; what does not end is cut off.
 */
import type { IncomingMessage } from 'node:http'

/** `tooLarge`, or `gone` when the caller went away. */
export type Body = Buffer | 'tooLarge' | 'gone'

/** Reads and throws away this many times the largest size before it gives up. */
const patience = 4

/** The whole body, if it is no larger than `maxBytes`. */
export function readBody(
  request: IncomingMessage,
  maxBytes: number,
  announced: string | undefined,
): Promise<Body> {
  if (announced !== undefined && Number(announced) > maxBytes * patience) return Promise.resolve('tooLarge')
  // Settled once: what is heard later changes nothing.
  return new Promise((resolve) => {
    const chunks: Buffer[] = []
    let size = 0
    request
      .on('data', (chunk: Buffer) => {
        size += chunk.length
        if (size <= maxBytes) chunks.push(chunk)
        else if (size > maxBytes * patience) resolve('tooLarge')
      })
      .on('end', () => {
        const [only] = chunks
        if (size > maxBytes) resolve('tooLarge')
        else resolve(chunks.length === 1 && only !== undefined ? only : Buffer.concat(chunks, size))
      })
      .on('close', () => resolve('gone'))
      .on('error', () => resolve('gone'))
  })
}
