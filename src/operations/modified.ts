/** Answers that carry their age, in whole seconds as HTTP dates do. */
import type { Context, Outcome } from './context.ts'

/**
 * The results with Last-Modified, or that nothing changed since the caller's If-Modified-Since. A change of a moment that
 * is still to come, as after a clock that was set back, hides all that changes until then: nobody is told of that moment,
 * and all is sent.
 */
export function conditional<Row>(ctx: Context, modifiedAt: number, results: readonly Row[]): Outcome<Row> {
  const second = Math.floor(Math.min(modifiedAt, ctx.now) / 1000) * 1000
  const headers = { 'last-modified': new Date(second).toUTCString() }
  const isOver = modifiedAt <= ctx.now
  const unchanged = isOver && ctx.ifModifiedSince !== undefined && second <= ctx.ifModifiedSince
  return unchanged ? { notModified: true, headers } : { results, headers }
}
