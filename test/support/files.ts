/** The files of the repository as the tests see them, independent of git. */
import { readdirSync } from 'node:fs'
import { join } from 'node:path'

/** Every file below the folders, sorted, as paths relative to the working directory. */
export const listFiles = (folders: readonly string[]): string[] =>
  folders
    .flatMap((folder) =>
      readdirSync(folder, { withFileTypes: true, recursive: true })
        .filter((entry) => entry.isFile())
        .map((entry) => join(entry.parentPath, entry.name)),
    )
    .sort()
