/** What the platform refused, as an error with the facts a program decides by. */

export interface ErrorElement {
  readonly ErrorCode: string
  readonly FieldName: string
  readonly Message: string
}

/** A request that the platform refused. */
export class ApiError extends Error {
  override readonly name = 'ApiError'
  readonly status: number
  /** The platform's codes, the parameters they are about, and words. */
  readonly errors: readonly ErrorElement[]
  readonly requestId: string | undefined
  /** Seconds to wait before the next try, when the platform says so. */
  readonly retryAfterSeconds: number | undefined

  constructor(status: number, errors: readonly ErrorElement[], headers: Headers) {
    const words = errors.map(({ ErrorCode, FieldName, Message }) => `${ErrorCode} ${FieldName} ${Message}`)
    super([`status ${status}`, ...words].join('; '))
    this.status = status
    this.errors = errors
    this.requestId = headers.get('x-request-id') ?? undefined
    // The platform says seconds; a proxy may say a date, and a wait of NaN would be none.
    const retryAfter = headers.get('retry-after') ?? ''
    this.retryAfterSeconds = /^[0-9]+$/.test(retryAfter) ? Number(retryAfter) : undefined
  }
}
