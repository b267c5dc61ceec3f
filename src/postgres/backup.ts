/** Copies of the data folder of a server that is at work, made so that they are whole or not there at all. */
import { constants, type Dirent } from 'node:fs'
import { chmod, chown, copyFile, mkdir, open, readdir, rename, stat, writeFile } from 'node:fs/promises'
import { dirname, join } from 'node:path'

/** What the server makes anew at each start; the log is copied by `copyLog`. */
const emptied = new Set(
  [
    ...['pg_wal', 'pg_replslot', 'pg_dynshmem', 'pg_notify', 'pg_serial', 'pg_snapshots', 'pg_stat_tmp'],
    'pg_subtrans',
  ].map((name) => join('cluster', name)),
)
/** What belongs to the process that runs, and the file that is copied last. */
const control = join('cluster', 'global', 'pg_control')
const left = new Set([
  ...['run', 'program', 'server.log', 'server.log.1', control],
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
  await writeFile(path, label, { mode: 0o600, flush: true })
  await give(path, join(from, 'cluster'))
  await Promise.all([target, join(to, 'cluster')].map(flush))
}

/** Gives a finished copy its name. */
export async function putInPlace(finished: string, path: string): Promise<void> {
  await rename(finished, path)
  await flush(dirname(path))
}

type Choice = 'copy' | 'empty' | 'leave'

/**
 * Copies folders and files with their modes and owners, to the disk; `choose` gets the path within `from`. What goes away
 * meanwhile is left out.
 */
export async function copyFolder(
  from: string,
  to: string,
  choose: (path: string, entry: Dirent) => Choice,
  within = '',
): Promise<void> {
  const source = join(from, within)
  const target = join(to, within)
  const { mode } = await stat(source)
  await mkdir(target, { recursive: true, mode: 0o700 })
  const entries = (await readdir(source, { withFileTypes: true })).flatMap((entry) => {
    const path = join(within, entry.name)
    return [{ entry, path, choice: choose(path, entry) }].filter(({ choice }) => choice !== 'leave')
  })
  const files = entries.filter(({ entry }) => entry.isFile())
  // Side by side: most of the time goes into waiting for the disk.
  await Promise.all(files.map(({ path }) => ifThere(copyWithOwner(join(from, path), join(to, path)))))
  for (const { entry, path, choice } of entries) {
    if (entry.isDirectory()) await copyFolder(from, to, choice === 'empty' ? () => 'leave' : choose, path)
  }
  await give(target, source)
  await chmod(target, mode)
  await flush(target)
}

async function ifThere(work: Promise<void>): Promise<void> {
  try {
    await work
  } catch (error) {
    if ((error as NodeJS.ErrnoException).code !== 'ENOENT') throw error
  }
}

async function copyWithOwner(from: string, to: string): Promise<void> {
  await copyFile(from, to, constants.COPYFILE_EXCL)
  await give(to, from)
  await flush(to)
}

/** The server reads its files only when they are its user's. */
async function give(path: string, model: string): Promise<void> {
  const { uid, gid } = await stat(model)
  if (uid !== process.getuid?.()) await chown(path, uid, gid)
}

async function flush(path: string): Promise<void> {
  const handle = await open(path, 'r')
  try {
    await handle.sync()
  } finally {
    await handle.close()
  }
}
