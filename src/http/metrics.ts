/**
 * The page of measures, in the text format that Prometheus reads. It has a port of its own, apart from the three
 * hosts: what the operator's network does not let through to it, no stranger ever sees.
 */
import { createServer } from 'node:http'
import type { AddressInfo } from 'node:net'

/** Labels are names of kinds (an operation, a step): never of people, accounts or strategies. */
export interface Sample {
  readonly labels?: Readonly<Record<string, string>>
  readonly value: number
  /** What a histogram's parts are told apart by. */
  readonly suffix?: '_bucket' | '_sum' | '_count'
}

/** Samples of one name, with what they mean. */
export interface Family {
  /** Without `lockstep_`. */
  readonly name: string
  readonly type: 'counter' | 'gauge' | 'histogram'
  readonly help: string
  readonly samples: readonly Sample[]
}

/** Families as text; those without samples are left out. */
export const exposed = (families: readonly Family[]): string =>
  families
    .filter(({ samples }) => samples.length > 0)
    .map(({ name, type, help, samples }) => {
      const full = `lockstep_${name}`
      const lines = samples.map(
        ({ labels = {}, value, suffix = '' }) =>
          `${full}${suffix}${labelText(labels)} ${numberText(value)}\n`,
      )
      return `# HELP ${full} ${help}\n# TYPE ${full} ${type}\n${lines.join('')}`
    })
    .join('')

function labelText(labels: Readonly<Record<string, string>>): string {
  const parts = Object.entries(labels).map(([name, value]) => `${name}="${escaped(value)}"`)
  return parts.length === 0 ? '' : `{${parts.join(',')}}`
}

const escaped = (value: string): string =>
  value.replaceAll('\\', '\\\\').replaceAll('"', '\\"').replaceAll('\n', '\\n')

const numberText = (value: number): string => (value === Number.POSITIVE_INFINITY ? '+Inf' : String(value))

export interface MetricsPage {
  /** Where it listens. */
  readonly url: string
  close(): Promise<void>
}

/** Serves `/metrics` and nothing else until it is closed. Rejects when it cannot listen. */
export async function serveMetrics(
  { port, host }: { readonly port: number; readonly host: string },
  gather: () => Promise<readonly Family[]>,
): Promise<MetricsPage> {
  const server = createServer((request, response) => {
    const isKnown = request.method === 'GET' && request.url?.split('?', 1)[0] === '/metrics'
    const made = isKnown ? gather().then(exposed) : Promise.resolve(undefined)
    made.then(
      (text) => response.writeHead(text === undefined ? 404 : 200, headers).end(text),
      () => response.writeHead(500, headers).end(),
    )
  })
  await new Promise<void>((resolve, reject) => {
    server.once('error', reject)
    server.listen(port, host, resolve)
  })
  const { address, family, port: bound } = server.address() as AddressInfo
  return {
    url: `http://${family === 'IPv6' ? `[${address}]` : address}:${bound}/metrics`,
    close: () =>
      new Promise((resolve) => {
        server.close(() => resolve())
        server.closeAllConnections()
      }),
  }
}

const headers = {
  'Content-Type': 'text/plain; version=0.0.4; charset=utf-8',
  'Cache-Control': 'no-store',
  'X-Content-Type-Options': 'nosniff',
}
