/**
 * Under which user the server runs. PostgreSQL refuses to run as root, and initdb refuses a user without an
 * entry in the user database. Root therefore drops to another user, or, where that user could not reach the
 * data folder, enters a user namespace in which root appears as one.
 */
import { spawn, spawnSync } from 'node:child_process'
import { chownSync, readFileSync, statSync } from 'node:fs'
import { userInfo } from 'node:os'
import { dirname } from 'node:path'
import { type Folder, ownerOf } from './folder.ts'
import type { Owner } from './owners.ts'

export interface Identity {
  /** Set when the child changes its user; files are handed over to it. */
  readonly account?: Owner
  /** A command put before the server's own. */
  readonly prefix: readonly string[]
}

/** How a command ended, and everything it wrote. */
export interface Outcome {
  readonly ok: boolean
  readonly output: string
}

/** What children see of the environment: no secrets of ours, no PG* variables of the caller. */
const childEnvironment = { PATH: process.env.PATH ?? '/usr/bin:/bin', LC_ALL: 'C', TZ: 'UTC' }

/** Chooses the identity. An existing cluster keeps its owner. Throws when no way is open. */
export function chooseIdentity(folder: Folder): Identity {
  const own = process.getuid?.() ?? 0
  const owner = ownerOf(folder.cluster)
  if (own !== 0) {
    if (owner !== undefined && owner !== own) {
      throw new Error(`${folder.cluster} belongs to user ${owner}: start as that user or as root`)
    }
    return hasName() ? { prefix: [] } : inNamespace()
  }
  if (owner === 0) return inNamespace()
  const parent = dirname(folder.root)
  const candidates =
    owner === undefined ? newOwners(parent) : [{ uid: owner, gid: statSync(folder.cluster).gid }]
  const account = candidates.find(
    (candidate) => canEnter(candidate, parent) && (owner !== undefined || takes(candidate, folder.root)),
  )
  if (account) return { account, prefix: [] }
  // Within a namespace root reads no more than anybody of what belongs to others.
  if (owner !== undefined) {
    throw new Error(
      `${folder.cluster} belongs to user ${owner}, who cannot enter ${parent}: ` +
        'let that user enter each folder on the way, or put the data folder elsewhere',
    )
  }
  return inNamespace()
}

/** The server must be able to read and make its files here. */
export function giveTo({ account }: Identity, ...paths: readonly string[]): void {
  if (account) for (const path of paths) chownSync(path, account.uid, account.gid)
}

function hasName(): boolean {
  try {
    return userInfo().username !== ''
  } catch {
    return false
  }
}

/**
 * Users that a new cluster may belong to: the system's database or nobody user, else an owner of a folder on the way, as
 * of a home that is closed to others.
 */
function newOwners(parent: string): Owner[] {
  const known = accounts()
  const named = ['postgres', '_postgres', 'nobody'].flatMap((name) => known.get(name) ?? [])
  const owners = wayTo(parent).map((path) => statSync(path))
  return [...named, ...owners.filter(({ uid }) => uid !== 0).map(({ uid, gid }) => ({ uid, gid }))]
}

/** The folder and those that it lies in, the nearest first. */
function wayTo(path: string): string[] {
  const above = dirname(path)
  return above === path ? [path] : [path, ...wayTo(above)]
}

function accounts(): Map<string, Owner> {
  const lines = readFileSync('/etc/passwd', 'utf8').split('\n')
  const fields = lines.filter((line) => !line.startsWith('#')).map((line) => line.split(':'))
  const entries = fields.map(
    ([name, , uid, gid]) => [name ?? '', { uid: Number(uid), gid: Number(gid) }] as const,
  )
  return new Map(entries.filter(([name, { uid }]) => name !== '' && uid > 0 && uid < 2 ** 31))
}

function canEnter(account: Owner, path: string): boolean {
  return spawnSync('/bin/sh', ['-c', 'cd "$1"', 'sh', path], { ...account, cwd: '/' }).status === 0
}

/** Root in a container may lack the right to give files away. */
function takes({ uid, gid }: Owner, path: string): boolean {
  try {
    chownSync(path, uid, gid)
    return true
  } catch (error) {
    if ((error as NodeJS.ErrnoException).code === 'EPERM') return false
    throw error
  }
}

function inNamespace(): Identity {
  const known = accounts()
  const { uid, gid } = known.get('nobody') ?? [...known.values()][0] ?? { uid: 65534, gid: 65534 }
  const [enter, ...options] = ['unshare', '--user', `--map-user=${uid}`, `--map-group=${gid}`] as const
  if (spawnSync(enter, [...options, 'true'], { cwd: '/' }).status === 0)
    return { prefix: [enter, ...options] }
  throw new Error(
    'PostgreSQL does not run as root, no other user can reach the data folder or be given it, and user ' +
      'namespaces are not available: start as an ordinary user, choose another DATA_DIR, or set DATABASE_URL',
  )
}

/** Starts a long-running child in its own session, so that a terminal's Ctrl-C reaches only us. */
export function spawnAs(identity: Identity, command: readonly string[], output: number) {
  const [file = '', ...rest] = [...identity.prefix, ...command]
  const stdio: ['ignore', number, number] = ['ignore', output, output]
  return spawn(file, rest, { ...identity.account, cwd: '/', env: childEnvironment, detached: true, stdio })
}

/** Runs a command to its end with the text on its standard input and returns everything it wrote. */
export function runAs(identity: Identity, command: readonly string[], input = ''): Promise<Outcome> {
  const [file = '', ...rest] = [...identity.prefix, ...command]
  const child = spawn(file, rest, { ...identity.account, cwd: '/', env: childEnvironment, detached: true })
  let output = ''
  const collect = (chunk: Buffer) => {
    output += chunk.toString()
  }
  child.stdout.on('data', collect)
  child.stderr.on('data', collect)
  child.stdin.on('error', () => child.stdin.destroy())
  child.stdin.end(input)
  return new Promise((resolve) => {
    child.on('error', (error) => resolve({ ok: false, output: error.message }))
    child.on('close', (code) => resolve({ ok: code === 0, output }))
  })
}
