/**
 * The exchange of `acceptor.cpp` for a test file: compiled once per version of its source, started in a folder of its
 * own, spoken to line by line. QuickFIX (Debian's libquickfix-dev) is an implementation of FIX that shares nothing with
 * the one under test; where it is not installed there is nothing to run, and the reason says so.
 */
import { type ChildProcess, execFileSync, spawn } from 'node:child_process'
import { createHash } from 'node:crypto'
import { existsSync, mkdtempSync, readdirSync, readFileSync, renameSync, rmSync } from 'node:fs'
import { createServer } from 'node:net'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { createInterface } from 'node:readline'

const source = new URL('acceptor.cpp', import.meta.url).pathname

/** The program, or why there is none. */
export function compileAcceptor(): { program: string } | { missing: string } {
  if (!existsSync('/usr/include/quickfix/Session.h'))
    return { missing: 'QuickFIX is not installed (Debian: apt-get install libquickfix-dev g++)' }
  const version = createHash('sha256').update(readFileSync(source)).digest('hex').slice(0, 16)
  const program = join(tmpdir(), `lockstep-quickfix-${process.getuid?.() ?? 0}-${version}`)
  if (existsSync(program)) return { program }
  const making = `${program}-${process.pid}`
  try {
    execFileSync('g++', ['-std=c++14', '-w', '-o', making, source, '-lquickfix'], { stdio: 'pipe' })
  } catch (error) {
    return { missing: `the acceptor cannot be compiled: ${error instanceof Error ? error.message : error}` }
  }
  renameSync(making, program)
  return { program }
}

export interface Acceptor {
  readonly port: number
  /** Does what a line says; answers what follows "ok". Throws when it cannot. */
  tell(line: string): Promise<string>
  /** What happened by itself, oldest first. */
  readonly events: readonly string[]
  /** Messages in QuickFIX's own log by MsgType: those it received and those it sent. */
  counts(): { received: Record<string, number>; sent: Record<string, number> }
  /** Lines of QuickFIX's log of messages that contain all of these parts. */
  logged(...parts: string[]): string[]
  stop(): Promise<void>
}

/** Starts the program; it listens when this resolves. */
export async function startAcceptor(program: string): Promise<Acceptor> {
  const folder = mkdtempSync(join(tmpdir(), 'lockstep-exchange-'))
  const port = await freePort()
  const child = spawn(program, [String(port), folder], { stdio: ['pipe', 'pipe', 'inherit'] })
  const events: string[] = []
  const answers: ((line: string) => void)[] = []
  const ready = new Promise<void>((resolve, reject) => {
    child.once('exit', (code) => reject(new Error(`the acceptor ended with ${code}`)))
    createInterface({ input: child.stdout }).on('line', (line) => {
      if (line === '* ready') resolve()
      else if (line.startsWith('* ')) events.push(line.slice(2))
      else answers.shift()?.(line)
    })
  })
  ready.catch(() => undefined)
  await ready
  const messages = (): string[] =>
    readdirSync(folder)
      .filter((name) => name.includes('messages'))
      .flatMap((name) => readFileSync(join(folder, name), 'latin1').split('\n'))
      .filter((line) => line.includes('\u000135='))
      .map((line) => line.replaceAll('\u0001', '|'))
  return {
    port,
    events,
    tell: async (line) => {
      const answer = await new Promise<string>((resolve) => {
        answers.push(resolve)
        child.stdin.write(`${line}\n`)
      })
      if (!answer.startsWith('ok')) throw new Error(`${line}: ${answer}`)
      return answer.slice(3)
    },
    counts: () => {
      const all = messages()
      const of = (sender: string) => countBy(all.filter((line) => line.includes(`|49=${sender}|`)))
      return { received: of('LOCKSTEP'), sent: of('EXCHANGE') }
    },
    logged: (...parts) => messages().filter((line) => parts.every((part) => line.includes(part))),
    stop: () => end(child).then(() => rmSync(folder, { recursive: true, force: true })),
  }
}

function countBy(lines: readonly string[]): Record<string, number> {
  const counts: Record<string, number> = {}
  for (const line of lines) {
    const type = /\|35=([^|]+)/.exec(line)?.[1] ?? ''
    counts[type] = (counts[type] ?? 0) + 1
  }
  return counts
}

function end(child: ChildProcess): Promise<void> {
  return new Promise((resolve) => {
    if (child.exitCode !== null) resolve()
    child.once('exit', () => resolve())
    child.stdin?.end()
    child.kill('SIGKILL')
  })
}

const freePort = (): Promise<number> =>
  new Promise((resolve, reject) => {
    const server = createServer()
    server.once('error', reject)
    server.listen(0, '127.0.0.1', () => {
      const address = server.address()
      server.close(() => resolve(typeof address === 'object' && address ? address.port : 0))
    })
  })
