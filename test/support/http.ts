/** Plain HTTP calls as any program makes them, with the answers as text and as JSON. */
import { Agent, request as httpRequest, type IncomingHttpHeaders } from 'node:http'

export interface Answer {
  readonly status: number
  readonly headers: IncomingHttpHeaders
  readonly text: string
  /** Undefined where the body is no JSON. */
  readonly json: unknown
}

export interface Call {
  readonly method?: string
  /** Undefined takes a usual header away. */
  readonly headers?: Readonly<Record<string, string | undefined>>
  /** Text is sent as it is, everything else as JSON. */
  readonly body?: unknown
  readonly key?: string | undefined
}

const agent = new Agent({ keepAlive: true, maxSockets: 32 })

/** One call; a body makes it a POST unless the method says otherwise. Rejects when the connection breaks. */
export function call(base: string, path: string, { method, headers, body, key }: Call = {}): Promise<Answer> {
  const text = body === undefined || typeof body === 'string' ? body : JSON.stringify(body)
  const usual: Record<string, string | undefined> = {
    accept: 'application/json',
    ...(key === undefined ? {} : { authorization: `Bearer ${key}` }),
    ...(text === undefined
      ? {}
      : { 'content-type': 'application/json', 'content-length': String(Buffer.byteLength(text)) }),
    ...headers,
  }
  const sent = Object.fromEntries(Object.entries(usual).filter((entry) => entry[1] !== undefined))
  const target = new URL(base)
  return new Promise((resolve, reject) => {
    const request = httpRequest(
      {
        agent,
        host: target.hostname,
        port: target.port,
        path,
        headers: sent as Record<string, string>,
        method: method ?? (text === undefined ? 'GET' : 'POST'),
      },
      (response) => {
        const chunks: Buffer[] = []
        response.on('data', (chunk: Buffer) => chunks.push(chunk))
        response.on('end', () => {
          const answer = Buffer.concat(chunks).toString()
          const { statusCode: status = 0, headers: received } = response
          resolve({ status, headers: received, text: answer, json: readJson(answer) })
        })
      },
    )
    request.on('error', reject)
    request.end(text)
  })
}

function readJson(text: string): unknown {
  try {
    return JSON.parse(text)
  } catch {
    return undefined
  }
}

/** Calls of the test door, whose answers must be successes. */
export const doorOf =
  (url: string) =>
  async <T>(path: string, body: unknown): Promise<T> => {
    const answer = await call(url, `/test${path}`, { body })
    if (answer.status !== 200) throw new Error(`/test${path} answered ${answer.status} ${answer.text}`)
    return answer.json as T
  }

/** The elements of `Results`; throws with the whole answer when the call did not succeed. */
export function resultsOf<Row = Record<string, unknown>>(answer: Answer): Row[] {
  const { Results } = (answer.json ?? {}) as { Results?: Row[] }
  if (answer.status !== 200 || Results === undefined) throw new Error(`${answer.status} ${answer.text}`)
  return Results
}

/** Codes and fields of an error's elements, as `1102 StrategyId`. */
export function faultsOf({ json }: Answer): string[] {
  const { ResponseStatus } = (json ?? {}) as {
    ResponseStatus?: { Errors?: { ErrorCode: string; FieldName: string }[] }
  }
  return (ResponseStatus?.Errors ?? []).map(({ ErrorCode, FieldName }) => `${ErrorCode} ${FieldName}`.trim())
}

/** How a call was answered: the status, and every fault. */
export const told = (answer: Answer): (number | string)[] => [answer.status, ...faultsOf(answer)]
