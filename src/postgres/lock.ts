/**
 * One supervisor per data folder. The lock is a listening unix socket: the kernel drops it with its process,
 * however that dies, so a lock file can be left behind but never held by the dead. A stale one is replaced by
 * renaming a live socket over it; whoever was replaced in that instant notices and gives way.
 */
import { randomBytes } from 'node:crypto'
import { linkSync, renameSync, rmSync, statSync } from 'node:fs'
import { connect, createServer, type Server } from 'node:net'
import { join } from 'node:path'
import { setTimeout as pause } from 'node:timers/promises'

const settleMs = 30
const answerMs = 1000

export interface Lock {
  /** Whether the lock is still ours; asked before every start of the server. */
  held(): Promise<boolean>
  /** Gives it up, also when it was taken away. Whoever has it now keeps it. */
  release(): void
}

/** Another living process drives the folder. */
export class FolderInUse extends Error {
  readonly pid: string

  constructor(run: string, pid: string) {
    // A command beside a platform comes here when that one's database is down, and stopping it would be no help.
    const whereDown = 'where that database is down and tried again, the file server.log says why'
    super(`another process (pid ${pid}) already runs the database of ${run}: stop it first; ${whereDown}`)
    this.pid = pid
  }
}

/** Takes the lock of the folder holding `run`. Throws `FolderInUse` when another living process drives it. */
export async function takeLock(run: string): Promise<Lock> {
  const path = join(run, 'supervisor')
  const token = `${process.pid} ${randomBytes(8).toString('hex')}`
  const own = join(run, `s${token.slice(-8)}`)
  const server = await answering(own, token)
  const inode = inodeOf(own)
  try {
    const present = await holder(path)
    if (present.alive) throw inUse(run, present.token)
    place(own, path, present.exists)
    await pause(settleMs)
    const settled = await holder(path)
    if (!settled.alive || settled.token !== token) throw inUse(run, settled.token)
  } catch (error) {
    server.close()
    rmSync(own, { force: true })
    throw error
  }
  const held = async () => (await holder(path)).token === token
  const release = () => {
    // While it listens, its inode is nobody else's.
    if (server.listening && inodeOf(path) === inode) rmSync(path, { force: true })
    server.close()
  }
  return { held, release }
}

/** Undefined where there is nothing to be seen. */
function inodeOf(path: string): number | undefined {
  try {
    return statSync(path).ino
  } catch {
    return undefined
  }
}

const inUse = (run: string, token: string): FolderInUse =>
  new FolderInUse(run, token.split(' ')[0] || 'unknown')

/** A socket that tells every caller who holds the lock. It never keeps the process alive. */
function answering(path: string, token: string): Promise<Server> {
  const server = createServer((socket) => {
    socket.on('error', () => socket.destroy())
    socket.end(token)
  })
  server.unref()
  return new Promise((resolve, reject) => {
    server.once('error', reject)
    server.listen(path, () => resolve(server))
  })
}

/** Renaming replaces what a dead process left; linking gives way to whoever was first. */
function place(own: string, path: string, stale: boolean): void {
  if (stale) {
    renameSync(own, path)
    return
  }
  try {
    linkSync(own, path)
  } catch (error) {
    if ((error as NodeJS.ErrnoException).code !== 'EEXIST') throw error
  }
  rmSync(own)
}

interface Holder {
  readonly exists: boolean
  readonly alive: boolean
  readonly token: string
}

/** A holder that accepts but is too busy to answer counts as alive. */
function holder(path: string): Promise<Holder> {
  return new Promise((resolve) => {
    let token = ''
    const socket = connect(path)
    const finish = (alive: boolean, exists: boolean) => {
      socket.destroy()
      resolve({ exists, alive, token })
    }
    socket.setTimeout(answerMs, () => finish(true, true))
    socket.on('data', (chunk) => {
      token += chunk.toString()
    })
    socket.on('end', () => finish(true, true))
    socket.on('error', (error: NodeJS.ErrnoException) => finish(false, error.code !== 'ENOENT'))
  })
}
