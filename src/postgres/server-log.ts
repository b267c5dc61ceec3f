/** The server's log: what it says by itself and, when it cannot be made, what its programs say. */
import { closeSync, constants, existsSync, fchownSync, openSync, readFileSync, writeSync } from 'node:fs'
import type { Folder } from './folder.ts'
import type { Identity } from './identity.ts'

/**
 * Opens the server's log. Root may make it in the folder of a user who starts the server himself the next time, so it
 * becomes the user's; not what the user has made it lead to, which may be anybody's.
 */
export function openLog({ logFile }: Folder, { account }: Identity): number {
  if (!account) return openSync(logFile, 'a', 0o600)
  const { O_APPEND, O_CREAT, O_NOFOLLOW, O_WRONLY } = constants
  const output = openSync(logFile, O_APPEND | O_CREAT | O_NOFOLLOW | O_WRONLY, 0o600)
  fchownSync(output, account.uid, account.gid)
  return output
}

/** Adds a text; false where that cannot be, as on a disk that is full. */
export function addToLog(folder: Folder, identity: Identity, text: string): boolean {
  try {
    const output = openLog(folder, identity)
    try {
      return writeSync(output, text) === Buffer.byteLength(text)
    } finally {
      closeSync(output)
    }
  } catch {
    return false
  }
}

/** The last lines of the log, for an error message. */
export function logTail(file: string): string {
  if (!existsSync(file)) return ''
  return readFileSync(file, 'utf8').trimEnd().split('\n').slice(-15).join('\n')
}

/** Why a program of the server failed, in a few words: ours where we know the cause, else what it says of it itself. */
export function causeIn(output: string): string {
  if (/shared memory segment .*No space left/.test(output))
    return 'the shared memory of this machine (/dev/shm) is too small, it takes 2 MB'
  if (/No space left|Disk quota exceeded/.test(output)) return 'its disk is full'
  const lines = output.trim().split('\n')
  const said = lines.flatMap((line) => /(?:FATAL|PANIC|ERROR|initdb: error): +(.*)/.exec(line)?.[1] ?? [])
  return said[0] ?? lines.at(-1) ?? ''
}
