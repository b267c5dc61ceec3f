/**
 * What the folder of a copied server holds, so that a copy which reached its place by half is told before its server
 * runs on it: the server itself starts on a table that is cut off, and goes on without the rows.
 */
import { readdir, readFile, rm, stat, writeFile } from 'node:fs/promises'
import { join, relative } from 'node:path'
import { writeFor } from './owners.ts'

/** In the folder of a copy whose server never ran. */
export const contentsName = 'contents'

/** Ends the name of the copy in its label as long as nobody has compared it; both are of one length. */
const [listed, compared] = [', listed', ', whole.'] as const
const labelOf = (root: string): string => join(root, 'cluster', 'backup_label')

/** The label of a copy that has a list, so that one which came without its list is told from one that never had any. */
export const labelOfListed = (label: string): string => label.replace(/^LABEL: .*$/m, `$&${listed}`)

/**
 * Notes every file with its size, and every folder, and what belongs to the copy beside them. What is in the pages and
 * the log is known by their checksums.
 */
export async function noteContents(root: string, beside: readonly string[]): Promise<void> {
  const lines: string[] = []
  const within = await readdir(root, { recursive: true, withFileTypes: true })
  for (const path of [...within.map(({ parentPath, name }) => join(parentPath, name)), ...beside])
    lines.push(`${await sizeOf(path)} ${relative(root, path)}`)
  const text = [lines.length, ...lines, ''].join('\n')
  // Root may copy the platform of another user, who starts it.
  await writeFor(root, join(root, contentsName), text)
}

/** Throws where something that was noted is missing or has another size. Otherwise the server may change it from now on. */
export async function checkContents(root: string): Promise<void> {
  const noted = await readIfThere(join(root, contentsName))
  const label = await readIfThere(labelOf(root))
  if (noted === undefined) {
    if (label?.includes(listed)) throw notWhole(root, [`${contentsName} is missing`])
    return
  }
  const [count, ...lines] = noted.split('\n').slice(0, -1)
  const faults = Number(count) === lines.length ? [] : [`${contentsName} is cut off`]
  for (const line of lines) {
    const path = line.slice(line.indexOf(' ') + 1)
    const size = await sizeOf(join(root, path))
    if (line !== `${size} ${path}`)
      faults.push(size === undefined ? `${path} is missing` : `${path} is cut off or of another copy`)
  }
  if (faults.length > 0) throw notWhole(root, faults)
  // First the label, in its place: whoever starts after a crash between the two compares once more.
  if (label?.includes(listed))
    await writeFile(labelOf(root), label.replace(listed, compared), { flag: 'r+', flush: true })
  await rm(join(root, contentsName))
}

function notWhole(root: string, [first, ...others]: readonly string[]): Error {
  const more = others.length > 0 ? `, and ${others.length} more` : ''
  return new Error(`the copy in ${root} did not come here whole: ${first}${more}`)
}

/** Of a folder 0; undefined: there is nothing. */
async function sizeOf(path: string): Promise<number | undefined> {
  try {
    const found = await stat(path)
    return found.isDirectory() ? 0 : found.size
  } catch (error) {
    if (['ENOENT', 'ENOTDIR'].includes((error as NodeJS.ErrnoException).code ?? '')) return undefined
    throw error
  }
}

async function readIfThere(path: string): Promise<string | undefined> {
  try {
    return await readFile(path, 'utf8')
  } catch (error) {
    if ((error as NodeJS.ErrnoException).code === 'ENOENT') return undefined
    throw error
  }
}
