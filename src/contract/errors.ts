/**
 * The closed table of what can go wrong: every refusal has a status, a platform code and words. Codes below
 * 3000 are the platform's, ours continue at 3000. A refusal that is not in this table does not compile.
 */

/** One element of `ResponseStatus.Errors`. */
export interface Fault {
  readonly ErrorCode: string
  readonly FieldName: string
  readonly Message: string
}

export type ErrorStatus = 400 | 401 | 403 | 404 | 406 | 409 | 429 | 500 | 503

/** `ResponseStatus.Message` of each error status. */
export const statusNames: Readonly<Record<ErrorStatus, string>> = {
  400: 'BadRequest',
  401: 'Unauthorized',
  403: 'Forbidden',
  404: 'NotFound',
  406: 'NotAcceptable',
  409: 'Conflict',
  429: 'TooManyRequests',
  500: 'InternalServerError',
  503: 'ServiceUnavailable',
}

/** The error statuses in their order. */
export const errorStatuses = Object.keys(statusNames).map(Number) as readonly ErrorStatus[]

interface ErrorCodeRow {
  readonly name: string
  readonly cause: string
  readonly fix: string
}

/** Every code an `Errors` element may carry. */
export const errorCodes = {
  1000: {
    name: 'UNKNOWN',
    cause: 'The request could not be processed; the log has the details under the request id.',
    fix: 'Retry once with the same Idempotency-Key, then report the X-Request-Id.',
  },
  1001: {
    name: 'DISCONNECTED',
    cause: 'A part behind the interface (database, worker, broker link) is away.',
    fix: 'Retry after the time in Retry-After.',
  },
  1002: {
    name: 'FORBIDDEN',
    cause: 'The caller is known and has no right to the operation or to the object named by FieldName.',
    fix: 'Use a key of the owner or of an admin of the site.',
  },
  1102: {
    name: 'MANDATORY_PARAM_EMPTY_OR_MALFORMED',
    cause: 'A mandatory parameter is missing, empty, null or unreadable.',
    fix: 'Send the parameter named by FieldName.',
  },
  1121: {
    name: 'INVALID_SYMBOL',
    cause: 'The symbol is unknown or cannot be traded.',
    fix: 'Look the symbol up in GetSupportedSymbols; any key may ask for it at the WL host.',
  },
  1128: {
    name: 'OPTIONAL_PARAMS_BAD_COMBO',
    cause: 'Parameters exclude each other, or none of a group of which one is needed was sent.',
    fix: 'Read the combination rules of the operation.',
  },
  1130: {
    name: 'INVALID_PARAMETER',
    cause: 'A value is of the wrong type or out of range, or a name is unknown.',
    fix: 'Compare the parameter with the reference; names are case-sensitive.',
  },
  2010: {
    name: 'NEW_ORDER_REJECTED',
    cause: 'The venue, or the state of the replaced order, refuses the order.',
    fix: 'Read the order again and decide from its present status.',
  },
  2011: {
    name: 'CANCEL_REJECTED',
    cause: 'The order has ended, or may not be canceled through the interface.',
    fix: 'Read the order again; nothing is left to cancel.',
  },
  2013: { name: 'NOT_FOUND', cause: 'The data asked for does not exist.', fix: 'Check the id.' },
  2014: {
    name: 'BAD_API_KEY_FMT',
    cause: 'The key is missing or not in the format of a key.',
    fix: 'Send Authorization: Bearer <API_KEY> with the key as it was issued.',
  },
  2015: {
    name: 'REJECTED_API_KEY',
    cause: 'The key is unknown, expired or revoked.',
    fix: 'Issue a new key.',
  },
  3000: {
    name: 'IDEMPOTENCY_KEY_REUSED',
    cause: 'The Idempotency-Key was used with another operation, host, version or body within 24 hours.',
    fix: 'Use a new key for each new intent.',
  },
  3001: {
    name: 'IDEMPOTENCY_IN_PROGRESS',
    cause: 'A request with the same Idempotency-Key is being processed.',
    fix: 'Retry in a moment; the answer will be the same.',
  },
  3002: {
    name: 'IDEMPOTENCY_KEY_MALFORMED',
    cause: 'The Idempotency-Key is empty, longer than 255 characters or holds other than visible ASCII.',
    fix: 'Send a UUID.',
  },
  3003: {
    name: 'CURSOR_INVALID',
    cause: 'The cursor was altered, or belongs to another operation, filter, order or key.',
    fix: 'Start again without a cursor.',
  },
  3004: {
    name: 'CURSOR_EXPIRED',
    cause: 'The cursor is older than one hour.',
    fix: 'Start again without a cursor.',
  },
  3005: {
    name: 'RATE_LIMITED',
    cause: 'The key or the address has used up a window.',
    fix: 'Wait for Retry-After; watch X-Limit-Remaining.',
  },
  3006: {
    name: 'MAINTENANCE',
    cause: 'The operator has closed the platform for maintenance, or it is stopping.',
    fix: 'Retry after the time in Retry-After.',
  },
  3007: {
    name: 'NOT_OFFERED_YET',
    cause: 'The operation, or the order feature named by FieldName, is not built yet.',
    fix: 'See the list of operations; nothing was done.',
  },
  3008: {
    name: 'OPERATION_UNAVAILABLE',
    cause: 'The interface describes this operation as unavailable.',
    fix: 'Use the dashboard.',
  },
  3009: {
    name: 'CONTENT_TYPE_UNSUPPORTED',
    cause: 'A body came with a Content-Type other than application/json in UTF-8, or with an encoding.',
    fix: 'Send Content-Type: application/json.',
  },
  3010: {
    name: 'BODY_TOO_LARGE',
    cause: 'The body is above 256 KiB (AddKYCInfo: 8 MiB).',
    fix: 'Send less in one call.',
  },
  3011: {
    name: 'JSON_MALFORMED',
    cause: 'The body is no JSON text in UTF-8, repeats a name, or nests deeper than 20.',
    fix: 'Send one JSON object with unique names.',
  },
  3012: {
    name: 'NOT_ACCEPTABLE',
    cause: 'The Accept header does not name application/json.',
    fix: 'Send Accept: application/json.',
  },
  3013: { name: 'OVERLOADED', cause: 'More work waits than is allowed to.', fix: 'Retry after Retry-After.' },
  3014: {
    name: 'ROUTE_UNKNOWN',
    cause: 'The host offers no such operation with this method.',
    fix: 'Compare path and method with the reference of the host; paths are case-sensitive.',
  },
  3015: {
    name: 'REQUEST_MALFORMED',
    cause: 'The request line, a header or the query string cannot be read.',
    fix: 'Send well-formed HTTP.',
  },
  3016: {
    name: 'STATE_CONFLICT',
    cause: 'The request is valid and conflicts with the present state.',
    fix: 'Read the object named by FieldName again.',
  },
} as const satisfies Record<number, ErrorCodeRow>

type ErrorCode = keyof typeof errorCodes

interface RefusalRow {
  readonly status: ErrorStatus
  readonly code: ErrorCode
  readonly message: string
}

/** Every expected no. The handler may name a field and sharpen the message. */
export const refusals = {
  Unknown: { status: 500, code: 1000, message: 'Unknown processing error' },
  Disconnected: { status: 503, code: 1001, message: 'Temporarily disconnected, retry later' },
  Forbidden: { status: 403, code: 1002, message: 'You are not authorized to access that information' },
  MissingValue: { status: 400, code: 1102, message: 'Missing value' },
  MalformedValue: { status: 400, code: 1102, message: 'Malformed value' },
  InvalidSymbol: { status: 400, code: 1121, message: 'Invalid symbol' },
  BadCombination: { status: 400, code: 1128, message: 'Bad combination of parameters' },
  InvalidParameter: { status: 400, code: 1130, message: 'Invalid value' },
  OrderRejected: { status: 409, code: 2010, message: 'Order rejected' },
  ReplaceRejected: { status: 409, code: 2010, message: 'Unable to replace' },
  CancelRejected: { status: 409, code: 2011, message: 'Unable to cancel' },
  NotFound: { status: 404, code: 2013, message: 'Not found' },
  KeyMalformed: { status: 401, code: 2014, message: 'Malformed API Key' },
  KeyRejected: { status: 401, code: 2015, message: 'Unknown API Key' },
  IdempotencyKeyReused: { status: 409, code: 3000, message: 'Idempotency key was used for another request' },
  IdempotencyInProgress: {
    status: 409,
    code: 3001,
    message: 'A request with this idempotency key is in progress',
  },
  IdempotencyKeyMalformed: { status: 400, code: 3002, message: 'Malformed idempotency key' },
  CursorInvalid: { status: 400, code: 3003, message: 'Invalid cursor' },
  CursorExpired: { status: 400, code: 3004, message: 'Expired cursor' },
  RateLimited: { status: 429, code: 3005, message: 'Too many requests' },
  Maintenance: { status: 503, code: 3006, message: 'Maintenance, retry later' },
  NotOfferedYet: { status: 503, code: 3007, message: 'Not offered yet' },
  OperationUnavailable: { status: 503, code: 3008, message: 'This operation is unavailable' },
  ContentTypeUnsupported: { status: 400, code: 3009, message: 'Content-Type must be application/json' },
  BodyTooLarge: { status: 400, code: 3010, message: 'Body too large' },
  JsonMalformed: { status: 400, code: 3011, message: 'Malformed JSON' },
  NotAcceptable: { status: 406, code: 3012, message: 'Accept must name application/json' },
  Overloaded: { status: 503, code: 3013, message: 'Overloaded, retry later' },
  RouteUnknown: { status: 404, code: 3014, message: 'Unknown operation' },
  RequestMalformed: { status: 400, code: 3015, message: 'Malformed request' },
  StateConflict: { status: 409, code: 3016, message: 'Conflict with the current state' },
} as const satisfies Record<string, RefusalRow>

export type Refusal = keyof typeof refusals

/** The statuses that a code comes with, as words. */
export function statusesOf(code: string): string {
  const rows = Object.values(refusals).filter((row) => row.code === Number(code))
  return [...new Set(rows.map(({ status }) => status))].join(', ')
}

/** The `Errors` element of a refusal. The handler's words replace the table's. */
export function faultOf(refusal: Refusal, field = '', message?: string): Fault {
  const row = refusals[refusal]
  return { ErrorCode: String(row.code), FieldName: field, Message: message ?? row.message }
}
