/**
 * Reads a request's body up to a size. What is too large is read on for a while and thrown away, so that the
 * caller gets to see the answer instead of a broken connection; what does not end is cut off.
 */
import type { IncomingMessage } from 'node:http'

/** `tooLarge`, or `gone` when the caller went away. */
export type Body = Buffer | 'tooLarge' | 'gone'

/** Reads and throws away this many times the largest size before it gives up. */
const patience = 4

export function readBody(
  request: IncomingMessage,
  maxBytes: number,
  announced: string | undefined,
): Promise<Body> {
  if (announced !== undefined && Number(announced) > maxBytes * patience) return Promise.resolve('tooLarge')
  return new Promise((resolve) => {
    const chunks: Buffer[] = []
    let size = 0
    const end = (body: Body): void => {
      request.off('data', take).off('end', finish).off('close', leave).off('error', leave)
      resolve(body)
    }
    const take = (chunk: Buffer): void => {
      size += chunk.length
      if (size <= maxBytes) chunks.push(chunk)
      else if (size > maxBytes * patience) end('tooLarge')
    }
    const finish = (): void => {
      const [only] = chunks
      if (size > maxBytes) end('tooLarge')
      else end(chunks.length === 1 && only !== undefined ? only : Buffer.concat(chunks, size))
    }
    const leave = (): void => end('gone')
    request.on('data', take).on('end', finish).on('close', leave).on('error', leave)
  })
}
