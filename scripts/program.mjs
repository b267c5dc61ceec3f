/**
 * The program as one file, made anew whenever a source has changed: a process that loads each of its 640 sources takes
 * four times the work to begin. It is kept beside the packages, whose owner is whoever may change the program.
 */
import { createHash } from 'node:crypto'
import {
  accessSync,
  constants,
  mkdirSync,
  readdirSync,
  readFileSync,
  renameSync,
  rmSync,
  statSync,
  writeFileSync,
} from 'node:fs'
import { dirname, join } from 'node:path'
import { pathToFileURL } from 'node:url'
import { root } from './install.mjs'

const folder = join(root, 'node_modules', '.cache', 'lockstep')
/** A process that has just begun may still have to read an older one; after this many milliseconds none has. */
const keptMs = 600_000

/** The file; undefined where none can be made or kept: the sources are loaded one by one there. */
export async function wholeProgram() {
  try {
    const file = join(folder, `${fingerprint()}.mjs`)
    if (!isReadable(file)) await make(file)
    return file
  } catch {
    return undefined
  }
}

function isReadable(file) {
  try {
    accessSync(file, constants.R_OK)
    return true
  } catch {
    return false
  }
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

async function make(file) {
  const { build, stop } = await import('esbuild')
  const { outputFiles } = await build({
    absWorkingDir: root,
    entryPoints: [join('src', 'bin', 'lockstep.ts')],
    outfile: file,
    bundle: true,
    packages: 'external',
    platform: 'node',
    format: 'esm',
    target: `node${process.versions.node}`,
    sourcemap: true,
    sourcesContent: false,
    write: false,
    logLevel: 'silent',
    plugins: [places],
  })
  await stop()
  mkdirSync(folder, { recursive: true })
  dropOld()
  // The map, which is read with it, comes first. Of two that make it at once both write the same.
  for (const { path, contents } of outputFiles.toSorted((a, b) => b.path.length - a.path.length)) {
    const unfinished = `${path}.${process.pid}`
    writeFileSync(unfinished, contents, { flush: true })
    renameSync(unfinished, path)
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
        .replaceAll('import.meta.dirname', JSON.stringify(dirname(path)))
        .replaceAll('import.meta.url', JSON.stringify(pathToFileURL(path).href))
      return { contents, loader: 'ts' }
    }),
}

function dropOld() {
  for (const name of readdirSync(folder)) {
    const path = join(folder, name)
    if (Date.now() - statSync(path).mtimeMs > keptMs) rmSync(path, { force: true })
  }
}
