/**
 * The program as one file, made anew whenever a source has changed: a process that loads each of its 640 sources takes
 * three times the work to begin. It is kept beside the packages, whose owner is whoever may change the program.
 */
import { createHash, randomUUID } from 'node:crypto'
import {
  accessSync,
  constants,
  mkdirSync,
  readdirSync,
  readFileSync,
  realpathSync,
  renameSync,
  rmSync,
  statSync,
  utimesSync,
  writeFileSync,
} from 'node:fs'
import { dirname, join } from 'node:path'
import { pathToFileURL } from 'node:url'
import { root } from './install.mjs'

/** A process that has just begun may still have to read one that it found; after this many milliseconds none has. */
const keptMs = 600_000

/** The file; undefined where none can be made or kept: the sources are loaded one by one there. */
export async function wholeProgram() {
  try {
    const folder = openFolder()
    const print = fingerprint()
    const file = join(folder, `${print}.mjs`)
    if (isReadable(file)) noteUse(file)
    else await make(file, print)
    return file
  } catch {
    return undefined
  }
}

/** Its real path: packages may be those of another clone, and the map names sources as seen from where Node reads it. */
function openFolder() {
  const folder = join(root, 'node_modules', '.cache', 'lockstep')
  mkdirSync(folder, { recursive: true })
  return realpathSync(folder)
}

function isReadable(file) {
  try {
    accessSync(file, constants.R_OK)
    return true
  } catch {
    return false
  }
}

/** Another clone with the same packages may be about to drop what is old. Only the file's owner can note it. */
function noteUse(file) {
  try {
    for (const path of [`${file}.map`, file]) utimesSync(path, new Date(), new Date())
  } catch {}
}

/** Of all that goes into it. Places are written into it too. */
function fingerprint() {
  const sources = readdirSync(join(root, 'src'), { recursive: true })
    .filter((name) => name.endsWith('.ts') && !name.endsWith('.test.ts'))
    .map((name) => join('src', name))
  const hash = createHash('sha256').update(root)
  for (const name of ['scripts/program.mjs', 'tsconfig.json', 'package-lock.json', ...sources.sort()])
    hash.update(`\0${name}\0`).update(readFileSync(join(root, name)))
  return hash.digest('hex')
}

async function make(file, print) {
  // Before the work that would be in vain, at each start, in an installation of somebody else's.
  accessSync(dirname(file), constants.W_OK)
  const outputFiles = await build(file)
  // A source that changed meanwhile may be in it or not: under this name it would be found for those of before.
  if (fingerprint() !== print) throw new Error('a source has changed')
  dropOld(dirname(file))
  // The map, which is read with it, comes first. Of two that make it at once both write the same.
  for (const { path, contents } of outputFiles.toSorted((a, b) => b.path.length - a.path.length))
    writeWhole(path, contents)
}

async function build(file) {
  const { build, stop } = await import('esbuild')
  try {
    const { outputFiles } = await build({
      absWorkingDir: root,
      entryPoints: [join('src', 'bin', 'lockstep.ts')],
      outfile: file,
      bundle: true,
      packages: 'external',
      platform: 'node',
      format: 'esm',
      // The oldest that is supported: another version of Node may read what this one makes.
      target: 'node20.19',
      sourcemap: true,
      sourcesContent: false,
      write: false,
      logLevel: 'silent',
      plugins: [places],
    })
    return outputFiles
  } finally {
    await stop()
  }
}

/** By a name that no other process has, in whatever container it runs. A full disk is not filled with what is left of it. */
function writeWhole(path, contents) {
  const unfinished = `${path}.${randomUUID()}`
  try {
    writeFileSync(unfinished, contents, { flush: true })
    renameSync(unfinished, path)
  } catch (error) {
    rmSync(unfinished, { force: true })
    throw error
  }
}

/** What a source reads beside itself is found from its own place. */
const places = {
  name: 'places',
  setup: ({ onLoad }) =>
    onLoad({ filter: /[\\/]src[\\/].*\.ts$/ }, ({ path }) => {
      const source = readFileSync(path, 'utf8')
      if (!source.includes('import.meta')) return undefined
      const contents = source
        // A dollar in a path means itself.
        .replaceAll('import.meta.dirname', () => JSON.stringify(dirname(path)))
        .replaceAll('import.meta.url', () => JSON.stringify(pathToFileURL(path).href))
      return { contents, loader: 'ts' }
    }),
}

/** Others may drop the same at the same time. */
function dropOld(folder) {
  for (const name of readdirSync(folder)) {
    const path = join(folder, name)
    const { mtimeMs = Date.now() } = statSync(path, { throwIfNoEntry: false }) ?? {}
    if (Date.now() - mtimeMs > keptMs) rmSync(path, { force: true, recursive: true })
  }
}
