/**
 * The text around every answer: `Results`, `Pagination`, `ResponseStatus`, in this order. Success carries
 * ErrorCode '200' alone; an error repeats its status, its name and at least one element of `Errors`.
 */
import { type ErrorStatus, type Fault, faultOf, type Refusal, refusals, statusNames } from './errors.ts'

/** A page's neighbours; absent or empty means there is none. */
export interface PageLinks {
  readonly next?: string | undefined
  readonly prev?: string | undefined
}

/** What stands before and after the results of a success. */
export function envelope(links?: PageLinks): readonly [before: string, after: string] {
  return ['{"Results":[', `]${pagination(links)},"ResponseStatus":{"ErrorCode":"200"}}`]
}

/** Cursors leave percent-encoded once, as the documents say. */
function pagination(links: PageLinks | undefined): string {
  if (!links?.next && !links?.prev) return ''
  const members = [
    ...(links.prev ? [`"prev_cursor":${JSON.stringify(encodeURIComponent(links.prev))}`] : []),
    ...(links.next ? [`"next_cursor":${JSON.stringify(encodeURIComponent(links.next))}`] : []),
  ]
  return `,"Pagination":{${members.join(',')}}`
}

/** The envelope of an error. */
export function faultEnvelope(status: ErrorStatus, faults: readonly Fault[]): string {
  const ResponseStatus = { ErrorCode: String(status), Message: statusNames[status], Errors: faults }
  return JSON.stringify({ ResponseStatus })
}

/** Status and body of a refusal. */
export function refusalAnswer(
  refusal: Refusal,
  field?: string,
  message?: string,
): { status: ErrorStatus; body: string } {
  const { status } = refusals[refusal]
  return { status, body: faultEnvelope(status, [faultOf(refusal, field, message)]) }
}
