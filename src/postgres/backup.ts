/** Copies of the data folder of a server that is at work, made so that they are whole or not there at all. */
import { constants, type Dirent, existsSync } from 'node:fs'
import { chmod, copyFile, mkdir, open, readdir, rename, stat } from 'node:fs/promises'
import { dirname, join } from 'node:path'
import { contentsName, labelOfListed } from './contents.ts'
import { give, writeFor } from './owners.ts'

/** What the server makes anew at each start; the log is copied by `copyLog`. */
const emptied = new Set(
  [
    ...['pg_wal', 'pg_replslot', 'pg_dynshmem', 'pg_notify', 'pg_serial', 'pg_snapshots', 'pg_stat_tmp'],
    'pg_subtrans',
  ].map((name) => join('cluster', name)),
)
/** It is copied last. */
const control = join('cluster', 'global', 'pg_control')
/** What belongs to the process that runs, and the file that is copied last. */
const left = new Set([
  ...['run', 'program', 'server.log', 'server.log.1', contentsName, control],
  ...['postmaster.pid', 'postmaster.opts'].map((name) => join('cluster', name)),
])
const logName = /^[0-9A-F]{24}$/
const isScratch = (name: string): boolean => /^(new-|pgsql_tmp|pg_internal\.init)/.test(name)

/** Copies the folder of a server, as `prepareFolder` names its parts, without its log. */
export async function copyServerFolder(from: string, to: string): Promise<void> {
  await copyFolder(from, to, (path, { name }) => {
    if (left.has(path) || isScratch(name)) return 'leave'
    return emptied.has(path) ? 'empty' : 'copy'
  })
  // It says from where on the log counts, so it must not be older than a file beside it.
  await copyWithOwner(join(from, control), join(to, control))
}

/** Adds what brings the copied files to one moment: the log between two files of it, and the server's label. */
export async function copyLog(
  from: string,
  to: string,
  { label, firstLog, lastLog }: { label: string; firstLog: string; lastLog: string },
): Promise<void> {
  const [source, target] = [from, to].map((root) => join(root, 'cluster', 'pg_wal')) as [string, string]
  const names = (await readdir(source)).filter(
    (name) => logName.test(name) && name >= firstLog && name <= lastLog,
  )
  for (const name of names) await copyWithOwner(join(source, name), join(target, name))
  const path = join(to, 'cluster', 'backup_label')
  await writeFor(join(from, 'cluster'), path, labelOfListed(label))
  await Promise.all([target, join(to, 'cluster')].map(flush))
}

/** Gives a finished copy its name. */
export async function putInPlace(finished: string, path: string): Promise<void> {
  await rename(finished, path)
  await flush(dirname(path))
}

type Choice = 'copy' | 'empty' | 'leave'

/** Open at a time: most of the time goes into waiting for the disk, and systems allow a process some hundreds. */
const filesAtOnce = 32

/**
 * Copies folders and files with their modes and owners, to the disk; `choose` gets the path within `from`. A link is
 * copied as what it leads to. What goes away meanwhile is left out.
 */
export async function copyFolder(
  from: string,
  to: string,
  choose: (path: string, entry: Dirent) => Choice,
  within = '',
): Promise<void> {
  const source = join(from, within)
  const target = join(to, within)
  const owner = await stat(source)
  await mkdir(target, { mode: 0o700 })
  const files: string[] = []
  for (const entry of await readdir(source, { withFileTypes: true })) {
    const path = join(within, entry.name)
    const choice = choose(path, entry)
    if (choice === 'leave') continue
    const kind = entry.isSymbolicLink() ? await stat(join(from, path)) : entry
    if (kind.isFile()) files.push(path)
    if (kind.isDirectory()) await copyFolder(from, to, choice === 'empty' ? () => 'leave' : choose, path)
  }
  for (let first = 0; first < files.length; first += filesAtOnce) {
    const some = files.slice(first, first + filesAtOnce)
    await Promise.all(some.map((path) => copyIfThere(join(from, path), join(to, path))))
  }
  await give(target, owner)
  await chmod(target, owner.mode)
  await flush(target)
}

async function copyIfThere(from: string, to: string): Promise<void> {
  try {
    await copyWithOwner(from, to)
  } catch (error) {
    // Where the file is still there, it is the copy's folder that is not.
    if ((error as NodeJS.ErrnoException).code !== 'ENOENT' || existsSync(from)) throw error
  }
}

async function copyWithOwner(from: string, to: string): Promise<void> {
  const owner = await stat(from)
  await copyFile(from, to, constants.COPYFILE_EXCL)
  await give(to, owner)
  await flush(to)
}

async function flush(path: string): Promise<void> {
  const handle = await open(path, 'r')
  try {
    await handle.sync()
  } finally {
    await handle.close()
  }
}
