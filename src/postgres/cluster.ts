/**
 * The server's files: made once and moved into place whole, so that an interrupted first start leaves nothing
 * half-made. Also what tells a living server from the traces of a dead one.
 */
import { existsSync, readdirSync, readFileSync, renameSync, rmSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { setTimeout as pause } from 'node:timers/promises'
import type { Binaries } from './binaries.ts'
import { type Folder, readOrMakePassword } from './folder.ts'
import { giveTo, type Identity, type Outcome, runAs } from './identity.ts'
import { addToLog, causeIn } from './server-log.ts'
import { socketIn } from './settings.ts'

export const superuser = 'lockstep'
export const databaseName = 'lockstep'

const fastMs = 20_000
const immediateMs = 10_000
/** Backends notice that their postmaster is gone as soon as they wait for anything. */
const orphanMs = 2_000
const pollMs = 25

/** What it takes to run one server. */
export interface Installation {
  readonly folder: Folder
  readonly identity: Identity
  readonly binaries: Binaries
  readonly password: string
}

/** Makes the cluster when there is none and asserts its checksums. Throws with the cause. */
export async function prepareCluster(
  folder: Folder,
  identity: Identity,
  binaries: Binaries,
): Promise<Installation> {
  giveTo(identity, folder.root, folder.run)
  const password = readOrMakePassword(folder)
  if (!existsSync(folder.cluster)) await makeCluster(folder, identity, binaries, password)
  return { folder, identity, binaries, password }
}

async function makeCluster(
  folder: Folder,
  identity: Identity,
  binaries: Binaries,
  password: string,
): Promise<void> {
  for (const name of readdirSync(folder.root)) {
    if (name.startsWith('new-')) rmSync(join(folder.root, name), { recursive: true, force: true })
  }
  const made = join(folder.root, `new-${process.pid}`)
  const secret = join(folder.root, `new-${process.pid}-password`)
  writeFileSync(secret, password, { mode: 0o600 })
  giveTo(identity, secret)
  let outcome: Outcome
  try {
    outcome = await runMakers(identity, binaries, made, secret)
    if (outcome.ok) renameSync(made, folder.cluster)
  } finally {
    rmSync(secret, { force: true })
    // One that is whole has moved to its place; what is not gives its room back.
    rmSync(made, { recursive: true, force: true })
  }
  if (!outcome.ok) throw notMade(folder, identity, outcome.output)
}

/** Makes a cluster with our database in it. */
async function runMakers(
  identity: Identity,
  binaries: Binaries,
  made: string,
  secret: string,
): Promise<Outcome> {
  const options = ['--encoding=UTF8', '--locale=C', '--locale-provider=builtin', '--builtin-locale=C.UTF-8']
  const access = ['-U', superuser, `--pwfile=${secret}`, '--auth=scram-sha-256']
  const more = ['--data-checksums', '--no-instructions']
  const done = await runAs(identity, [binaries.initdb, '-D', made, ...options, ...access, ...more])
  if (!done.ok) return done
  // Without that setting it goes on after an error, a full disk say, and ends as if all were well.
  const single = [binaries.postgres, '--single', '-c', 'exit_on_error=on', '-D', made, 'postgres']
  return runAs(identity, single, `create database ${databaseName}\n`)
}

/** Its makers say a page of what went well before they come to what did not. */
function notMade(folder: Folder, identity: Identity, output: string): Error {
  const rest = addToLog(folder, identity, output) ? `; all that was said is in ${folder.logFile}` : ''
  return new Error(`the database cannot be made in ${folder.root}: ${causeIn(output)}${rest}`)
}

/** Asserts that pages carry checksums. Works only while the server is down. */
export async function assertChecksums({ identity, binaries, folder }: Installation): Promise<void> {
  const outcome = await runAs(identity, [binaries.postgres, '-C', 'data_checksums', '-D', folder.cluster])
  if (!outcome.ok)
    throw new Error(`asking the server about its folder ${folder.cluster} failed: ${outcome.output.trim()}`)
  if (outcome.output.trim() !== 'on') throw new Error(`${folder.cluster} was made without data checksums`)
}

/** The postmaster's own status file: its pid and whether it accepts connections. */
export function readStatus(cluster: string): { pid: number; ready: boolean } | undefined {
  const file = join(cluster, 'postmaster.pid')
  if (!existsSync(file)) return undefined
  const lines = readFileSync(file, 'utf8').split('\n')
  return { pid: Number(lines[0]), ready: lines[7]?.trim() === 'ready' }
}

/**
 * Ends what an earlier supervisor left running in this folder, the postmaster politely first, and waits for
 * backends that outlived their postmaster. Then removes the lock files that name no living server: their pid
 * may meanwhile belong to somebody else, or to a dead child that nobody collects, and the server would refuse
 * to start.
 */
export async function clearOrphans({ folder, identity }: Installation): Promise<void> {
  const steps = [
    ['SIGINT', fastMs],
    ['SIGQUIT', immediateMs],
    ['SIGKILL', immediateMs],
  ] as const
  for (const [signal, patience] of steps) {
    const orphans = await processesIn(folder.cluster, identity)
    if (orphans.length === 0) break
    const postmaster = readStatus(folder.cluster)?.pid
    const led = orphans.filter((pid) => pid === postmaster)
    signalAll(signal === 'SIGINT' ? led : orphans, signal)
    await gone(folder.cluster, identity, led.length > 0 ? patience : orphanMs)
  }
  const left = await processesIn(folder.cluster, identity)
  if (left.length > 0) throw new Error(`processes ${left.join(', ')} still use ${folder.cluster}`)
  if (process.platform === 'linux') for (const file of leftovers(folder)) rmSync(file, { force: true })
}

function leftovers({ cluster, run }: Folder): string[] {
  const socket = socketIn(run)
  return [join(cluster, 'postmaster.pid'), socket, `${socket}.lock`]
}

async function gone(cluster: string, identity: Identity, patience: number): Promise<void> {
  const until = performance.now() + patience
  while (performance.now() < until && (await processesIn(cluster, identity)).length > 0) await pause(pollMs)
}

function signalAll(pids: readonly number[], signal: NodeJS.Signals): void {
  for (const pid of pids) {
    try {
      process.kill(pid, signal)
    } catch (error) {
      if ((error as NodeJS.ErrnoException).code !== 'ESRCH') throw error
    }
  }
}

/**
 * Processes that work in the folder: a postmaster and its backends have it as working directory. Asked with
 * the server's own identity, because root without ptrace rights may not look. Elsewhere than on Linux only
 * the postmaster is found, by its command line.
 */
async function processesIn(cluster: string, identity: Identity): Promise<number[]> {
  const linux = 'for p in /proc/[0-9]*; do [ "$p/cwd" -ef "$1" ] && echo "$p"; done; true'
  const other = 'ps -axo pid=,command= | grep -F -- "-D $1" | grep -v grep; true'
  const script = process.platform === 'linux' ? linux : other
  const { output } = await runAs(identity, ['/bin/sh', '-c', script, 'sh', cluster])
  return output
    .split('\n')
    .map((line) => Number.parseInt(line.replace('/proc/', ''), 10))
    .filter((pid) => pid > 1)
}
