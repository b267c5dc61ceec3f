/**
 * Small files that are whole or not there at all, whenever their writer ends and however full the disk is: half a
 * password would keep every later start from its database.
 */
import { closeSync, fsyncSync, openSync, renameSync, rmSync, writeFileSync } from 'node:fs'
import { dirname } from 'node:path'

/** Writes a file for its owner alone, to the disk; `place` gives the finished draft its name. */
export function writeWhole(path: string, text: string, place = renameSync): void {
  const draft = `${path}.${process.pid}`
  try {
    writeFileSync(draft, text, { mode: 0o600, flush: true })
    place(draft, path)
    flushFolder(dirname(path))
  } finally {
    rmSync(draft, { force: true })
  }
}

/** A new name is on the disk when its folder is. */
function flushFolder(path: string): void {
  const folder = openSync(path, 'r')
  try {
    fsyncSync(folder)
  } finally {
    closeSync(folder)
  }
}
