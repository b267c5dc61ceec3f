/**
 * A typed client of the interface, derived from the table of operations. Needs nothing but fetch, so it runs
 * in Node and in a browser.
 *
 * Ids are JavaScript numbers: exact, because the platform gives out ids below 2^53. An answer with a larger
 * integer is refused with a RangeError, never rounded. Larger ids can be sent as bigint.
 */
import { routesOf } from '../contract/hosts.ts'
import { type Method, takesBody } from '../contract/row.ts'
import type { HostName } from '../contract/schema.ts'
import {
  type AnswerOf,
  type BareName,
  groups,
  type OperationName,
  type RequestOf,
} from '../contract/table.ts'
import { ApiError, type ErrorElement } from './error.ts'
import { exactJson, parseExact } from './json.ts'

interface ClientOptions {
  /** Where the host is served, without a trailing slash: `https://gen.example`, `http://localhost:8080/gen`. */
  readonly baseUrl: string
  readonly key: string
  /** Which host `baseUrl` is; it decides the path of the one operation whose path differs. */
  readonly host?: HostName
  readonly fetch?: typeof fetch
}

interface CallOptions {
  /** Makes a repeated write harmless for 24 hours. */
  readonly idempotencyKey?: string
  readonly signal?: AbortSignal
  /**
   * Given the headers of the answer, also of a refusal: `X-Approval-Request-Id` names the request that a partner's
   * StartAutotrade waits for, `RateLimit` says what is left to ask for.
   */
  readonly onHeaders?: (headers: Headers) => void
}

/** One page of an answer; the cursors are ready to be sent back. */
interface Page<Element> {
  readonly results: readonly Element[]
  readonly next?: string
  readonly prev?: string
}

type AnswerFor<Op extends OperationName> = Op extends BareName ? boolean : Page<AnswerOf<Op>>
type PagedName = {
  [Op in OperationName]: 'Cursor' extends keyof RequestOf<Op> ? Op : never
}[OperationName]

/** One method per operation. Refusals of the platform are thrown as ApiError. */
type Client = {
  readonly [Op in OperationName]: (params: RequestOf<Op>, options?: CallOptions) => Promise<AnswerFor<Op>>
} & {
  /** All rows of a paginated operation, fetched page by page as they are asked for. */
  rowsOf<Op extends PagedName>(
    operation: Op,
    params: RequestOf<Op>,
    options?: CallOptions,
  ): AsyncGenerator<AnswerOf<Op>, void>
}

type Params = Readonly<Record<string, unknown>>
type Call = (params: Params, options?: CallOptions) => Promise<boolean | Page<unknown>>

/** A client of one host with one key. */
export function createClient(options: ClientOptions): Client {
  const names = Object.values(groups).flatMap((members) => Object.keys(members))
  const calls = new Map<string, Call>(names.map((name) => [name, notOffered]))
  for (const { operation, method, path } of routesOf(options.host ?? 'Gen', 'native'))
    calls.set(operation, (params, callOptions = {}) => send(options, method, path, params, callOptions))
  const rowsOf = (operation: string, params: Params, callOptions?: CallOptions) =>
    allRows(calls.get(operation) ?? notOffered, params, callOptions)
  return { ...Object.fromEntries(calls), rowsOf } as unknown as Client
}

const notOffered: Call = async () => {
  throw new TypeError('this host does not offer the operation')
}

async function* allRows(call: Call, params: Params, options?: CallOptions): AsyncGenerator<unknown, void> {
  let cursor = params.Cursor
  do {
    const page = (await call({ ...params, Cursor: cursor }, options)) as Page<unknown>
    yield* page.results
    cursor = page.next
  } while (cursor !== undefined)
}

async function send(
  { baseUrl, key, fetch: fetchWith = fetch }: ClientOptions,
  method: Method,
  path: string,
  params: Params,
  { idempotencyKey, signal, onHeaders }: CallOptions,
): Promise<boolean | Page<unknown>> {
  const hasBody = takesBody({ method })
  const url = `${baseUrl}${path}${hasBody ? '' : queryText(params)}`
  const response = await fetchWith(url, {
    method,
    headers: {
      Authorization: `Bearer ${key}`,
      Accept: 'application/json',
      ...(hasBody ? { 'Content-Type': 'application/json' } : {}),
      ...(idempotencyKey === undefined ? {} : { 'Idempotency-Key': idempotencyKey }),
    },
    ...(hasBody ? { body: exactJson(params) } : {}),
    ...(signal === undefined ? {} : { signal }),
  })
  onHeaders?.(response.headers)
  const text = await response.text()
  if (!response.ok) throw errorOf(response, text)
  return pageOf(parseExact(text))
}

function queryText(params: Params): string {
  const query = new URLSearchParams()
  for (const [name, value] of Object.entries(params)) {
    if (value === undefined) continue
    for (const item of Array.isArray(value) ? value : [value]) query.append(name, String(item))
  }
  const text = query.toString()
  return text === '' ? '' : `?${text}`
}

interface Envelope {
  readonly Results: readonly unknown[]
  readonly Pagination?: { readonly prev_cursor?: string; readonly next_cursor?: string }
}

function pageOf(answer: unknown): boolean | Page<unknown> {
  if (typeof answer === 'boolean') return answer
  const { Results, Pagination = {} } = answer as Envelope
  return {
    results: Results,
    ...(Pagination.next_cursor ? { next: decodeURIComponent(Pagination.next_cursor) } : {}),
    ...(Pagination.prev_cursor ? { prev: decodeURIComponent(Pagination.prev_cursor) } : {}),
  }
}

/** A body that is not the platform's (a proxy's page) gives an error without elements. */
function errorOf(response: Response, text: string): ApiError {
  let errors: readonly ErrorElement[] = []
  try {
    errors =
      (JSON.parse(text) as { ResponseStatus?: { Errors?: ErrorElement[] } }).ResponseStatus?.Errors ?? []
  } catch {
    // Not JSON: the status says all there is.
  }
  return new ApiError(response.status, errors, response.headers)
}
