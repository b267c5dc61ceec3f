/** The product as a user runs it: real processes in a data folder of their own, found and killed by pid. */
import { type ChildProcess, spawn } from 'node:child_process'
import { mkdtempSync, readFileSync, rmSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { createInterface } from 'node:readline'

export interface Product {
  dataDir: string
  /** Where the hosts are, as the ready line said. */
  url: string
  /** Everything it printed on standard output so far. */
  output(): string
  pidOf(part: Part): number | undefined
  /** Kills it with -9; false when it was just dead. */
  kill(part: Part): boolean
  /** What it logged so far. */
  log(): string
  /** Ctrl-C; answers the exit status. */
  stop(): Promise<number | null>
}
export type Part = 'serve' | 'worker' | 'postgres'

export interface StartOptions {
  env?: NodeJS.ProcessEnv
  /** An existing folder is carried on with. */
  dataDir?: string
  readyWithinMs?: number
}

export const newDataDir = (): string => mkdtempSync(join(tmpdir(), 'lockstep-product-'))
export const removeDataDir = (dataDir: string): void => rmSync(dataDir, { recursive: true, force: true })

/** Starts `npm start`'s program and waits for its ready line. Rejects when it ends before. */
export async function startProduct(options: StartOptions = {}): Promise<Product> {
  const dataDir = options.dataDir ?? newDataDir()
  const env = { ...process.env, PORT: '0', DEMO: '0', LOG_LEVEL: 'warn', ...options.env, DATA_DIR: dataDir }
  const child = spawn(process.execPath, ['scripts/start.mjs'], { env, stdio: ['ignore', 'pipe', 'pipe'] })
  const lines: string[] = []
  const errors: string[] = []
  child.stderr?.on('data', (chunk: Buffer) => errors.push(chunk.toString()))
  const url = await readyLine(child, lines, options.readyWithinMs ?? 60_000).catch((error: Error) => {
    child.kill('SIGKILL')
    throw new Error(`${error.message}\n${lines.join('\n')}\n${errors.join('')}`)
  })
  const pidOf = (part: Part): number | undefined =>
    part === 'postgres' ? postmaster(dataDir) : childPid(child, part)
  return {
    dataDir,
    url,
    output: () => lines.join('\n'),
    pidOf,
    kill: (part) => killed(pidOf(part)),
    log: () => errors.join(''),
    stop: () => ended(child),
  }
}

function readyLine(child: ChildProcess, lines: string[], withinMs: number): Promise<string> {
  return new Promise((resolve, reject) => {
    const timer = setTimeout(() => reject(new Error('no ready line in time')), withinMs)
    child.once('exit', (code) => reject(new Error(`the product ended with ${code}`)))
    if (!child.stdout) return reject(new Error('no output'))
    createInterface(child.stdout).on('line', (line) => {
      lines.push(line)
      if (!line.startsWith('ready ')) return
      clearTimeout(timer)
      resolve(line.slice('ready '.length))
    })
  })
}

function killed(pid: number | undefined): boolean {
  try {
    return pid !== undefined && process.kill(pid, 'SIGKILL')
  } catch {
    return false
  }
}

async function ended(child: ChildProcess): Promise<number | null> {
  if (child.exitCode !== null) return child.exitCode
  const gone = new Promise<number | null>((resolve) => child.once('exit', (code) => resolve(code)))
  child.kill('SIGINT')
  return gone
}

/** The child that runs this command. */
function childPid(child: ChildProcess, command: string): number | undefined {
  const children = readFileSync(`/proc/${child.pid}/task/${child.pid}/children`, 'utf8').trim().split(' ')
  return children
    .filter((pid) => pid !== '')
    .map(Number)
    .find((pid) => commandOf(pid).endsWith(`lockstep.mjs ${command}`))
}

function commandOf(pid: number): string {
  try {
    return readFileSync(`/proc/${pid}/cmdline`, 'utf8').split('\0').join(' ').trim()
  } catch {
    return ''
  }
}

function postmaster(dataDir: string): number | undefined {
  try {
    return Number(readFileSync(join(dataDir, 'postgres', 'cluster', 'postmaster.pid'), 'utf8').split('\n')[0])
  } catch {
    return undefined
  }
}
