/**
 * Layout of the data folder: `cluster/` (the server's own files), `run/` (sockets), `password`, `server.log`.
 * A socket path may have about 100 bytes, so a deep data folder gets its `run` folder under /tmp, named after
 * the data folder: everyone who drives the same folder finds the same sockets.
 */
import { createHash, randomBytes } from 'node:crypto'
import {
  chmodSync,
  existsSync,
  lstatSync,
  mkdirSync,
  readFileSync,
  realpathSync,
  renameSync,
  statSync,
} from 'node:fs'
import { join } from 'node:path'
import { writeWhole } from './whole-file.ts'

/** Room for the longest socket name within sun_path of the strictest system (104 bytes). */
const runFolderBytesMax = 75
const logBytesMax = 8 * 1024 * 1024

export interface Folder {
  readonly root: string
  readonly cluster: string
  readonly run: string
  readonly passwordFile: string
  readonly logFile: string
}

/** Makes the folder (0700) and names its parts. Throws when a part belongs to somebody else. */
export function prepareFolder(dataDir: string): Folder {
  mkdirSync(dataDir, { recursive: true, mode: 0o700 })
  const root = realpathSync(dataDir)
  const folder: Folder = {
    root,
    cluster: join(root, 'cluster'),
    run: runFolder(root),
    passwordFile: join(root, 'password'),
    logFile: join(root, 'server.log'),
  }
  makeRunFolder(folder)
  rotateLog(folder.logFile)
  return folder
}

/** Makes the folder of the sockets, at a start and where somebody has taken it away. */
export function makeRunFolder({ root, cluster, run: path }: Folder): void {
  mkdirSync(path, { recursive: true, mode: 0o700 })
  const run = lstatSync(path)
  const owners = [process.getuid?.(), statSync(root).uid, ownerOf(cluster)]
  if (!run.isDirectory() || !owners.includes(run.uid)) {
    throw new Error(`${path} exists and belongs to another user: remove it`)
  }
  chmodSync(path, 0o700)
}

function runFolder(root: string): string {
  const inside = join(root, 'run')
  if (Buffer.byteLength(inside) <= runFolderBytesMax) return inside
  return `/tmp/lockstep-${createHash('sha256').update(root).digest('hex').slice(0, 16)}`
}

/** Owner of a path, nothing when it does not exist. */
export function ownerOf(path: string): number | undefined {
  return statSync(path, { throwIfNoEntry: false })?.uid
}

function rotateLog(file: string): void {
  if ((statSync(file, { throwIfNoEntry: false })?.size ?? 0) > logBytesMax) renameSync(file, `${file}.1`)
}

/** The server's password: made with the folder, then kept. Throws when a cluster exists without one. */
export function readOrMakePassword(folder: Folder): string {
  if (existsSync(folder.passwordFile)) return readFileSync(folder.passwordFile, 'utf8').trim()
  if (existsSync(folder.cluster)) {
    throw new Error(
      `${folder.passwordFile} is missing: restore it, or remove ${folder.cluster} with all its data`,
    )
  }
  const password = randomBytes(32).toString('base64url')
  writeWhole(folder.passwordFile, `${password}\n`)
  return password
}
