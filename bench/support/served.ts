/** Servers as child processes, and load on them by autocannon. */
import { fork } from 'node:child_process'
import { join } from 'node:path'
import autocannon from 'autocannon'
import { workingFlags } from '../../src/bin/children.ts'

/** For Node to run TypeScript as the product's own processes do. */
export const typescriptFlags = [
  '--import',
  join(import.meta.dirname, '..', '..', 'scripts', 'typescript.mjs'),
]

export interface Served {
  url: string
  stop(): void
}

/** Starts a server script as a child process; it says its address when it listens. */
export function serve(script: string, args: readonly string[]): Promise<Served> {
  const path = join(import.meta.dirname, script)
  const child = fork(path, args, { execArgv: [...workingFlags, ...typescriptFlags] })
  return new Promise((resolve, reject) => {
    child.once('message', (url) => resolve({ url: String(url), stop: () => child.disconnect() }))
    child.once('exit', (code) => reject(new Error(`${script} ended with ${code}`)))
  })
}

export type Target = Omit<autocannon.Options, 'connections' | 'duration'>

/** Requests a second, and how long the slowest hundredth of the answers took at the least, in milliseconds. */
export interface Load {
  readonly rate: number
  readonly p99: number
}

/**
 * Requests for some seconds; every answer must be a success. The load generator's own histogram knows whole
 * milliseconds only, which is as long as a bare server takes.
 */
export async function load(target: Target, connections: number, duration: number): Promise<Load> {
  const took: number[] = []
  const setupClient = (client: autocannon.Client): void => {
    client.on('response', (_status, _bytes, ms) => took.push(ms))
  }
  const { non2xx, errors, requests } = await autocannon({ ...target, connections, duration, setupClient })
  if (non2xx > 0 || errors > 0) throw new Error(`${target.url}: ${non2xx} refusals, ${errors} errors`)
  const sorted = Float64Array.from(took).sort()
  return { rate: requests.average, p99: sorted[Math.floor(sorted.length * 0.99)] ?? Number.NaN }
}
