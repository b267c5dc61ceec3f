/** Folders of whoever runs the platform: where its data is, where a copy goes. */
import { existsSync, mkdirSync, statSync } from 'node:fs'
import { dirname } from 'node:path'

/**
 * Makes a folder and those above it, where they are not there yet. Node's own form never ends below a folder that takes no
 * others (/proc). Throws what the system says; of a link to where nothing is, that there is nothing.
 */
export function makeFolder(path: string): void {
  try {
    mkdirSync(path, { mode: 0o755 })
  } catch (error) {
    const { code } = error as NodeJS.ErrnoException
    if (code === 'EEXIST' && statSync(path).isDirectory()) return
    if (code !== 'ENOENT' || existsSync(dirname(path))) throw error
    makeFolder(dirname(path))
    makeFolder(path)
  }
}
