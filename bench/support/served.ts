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

/** Requests for some seconds; every answer must be a success. */
export async function load(
  target: Target,
  connections: number,
  duration: number,
): Promise<autocannon.Result> {
  const result = await autocannon({ ...target, connections, duration })
  if (result.non2xx > 0 || result.errors > 0) {
    throw new Error(`${target.url}: ${result.non2xx} refusals, ${result.errors} errors`)
  }
  return result
}
