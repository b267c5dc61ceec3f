/** Answers that carry their age, in whole seconds as HTTP dates do. */
import type { Context, Outcome } from './context.ts'

/** The results with Last-Modified, or that nothing changed since the caller's If-Modified-Since. */
export function conditional<Row>(ctx: Context, modifiedAt: number, results: readonly Row[]): Outcome<Row> {
  const second = Math.floor(modifiedAt / 1000) * 1000
  const headers = { 'last-modified': new Date(second).toUTCString() }
  const unchanged = ctx.ifModifiedSince !== undefined && second <= ctx.ifModifiedSince
  return unchanged ? { notModified: true, headers } : { results, headers }
}
