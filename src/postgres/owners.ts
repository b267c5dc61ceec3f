/** Whom the files of a server belong to: it reads them only when they are its user's, and others write some of them. */
import { chown, stat, writeFile } from 'node:fs/promises'

/** A user of the system that files belong to. */
export interface Owner {
  readonly uid: number
  readonly gid: number
}

/** Hands a file or a folder over, where it is not the owner's already. */
export async function give(path: string, { uid, gid }: Owner): Promise<void> {
  if (uid !== process.getuid?.()) await chown(path, uid, gid)
}

/** Writes a file to the disk, for the owner of `folder` alone. */
export async function writeFor(folder: string, path: string, text: string): Promise<void> {
  await writeFile(path, text, { mode: 0o600, flush: true })
  await give(path, await stat(folder))
}
