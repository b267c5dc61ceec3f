/**
 * Installs the locked dependencies when they are missing, so that a fresh clone runs with one command.
 * Plain JavaScript without imports from packages: it runs before any package is there.
 */
import { spawnSync } from 'node:child_process'
import { existsSync, readFileSync } from 'node:fs'
import { dirname, join } from 'node:path'
import { fileURLToPath } from 'node:url'
import { inTurn, wait } from './installing.mjs'
import { platformsOf } from './platforms.mjs'

export const root = join(dirname(fileURLToPath(import.meta.url)), '..')

/** True when the installed tree is the one that the lockfile names, and nobody has taken a part of it away. */
function isInstalled(withTools) {
  const installed = join(root, 'node_modules', '.package-lock.json')
  if (!existsSync(installed)) return false
  const wanted = JSON.parse(readFileSync(join(root, 'package-lock.json'), 'utf8')).packages
  const found = JSON.parse(readFileSync(installed, 'utf8')).packages
  return Object.entries(wanted).every(
    ([path, entry]) =>
      path === '' ||
      entry.optional === true ||
      (!withTools && entry.dev === true) ||
      (found[path]?.version === entry.version && existsSync(join(root, path, 'package.json'))),
  )
}

/**
 * Runs `npm ci` if needed; ends the process with npm's own status when it fails. Standard output stays for what the
 * program says: a command may be asked for JSON. The tools of development are left out where npm is told so, as by
 * NODE_ENV=production, but for who needs them.
 */
export function ensureInstalled({ withTools = false } = {}) {
  // Its parent runs from the same packages, which must not be taken away below it.
  if (process.env.LOCKSTEP_HELD === '1') return
  if (isInstalled(withTools)) return
  // Who waited for another's turn mostly finds all installed.
  inTurn(root, () => isInstalled(withTools) || install(withTools))
}

/** How long a program that has just been started may take to say that it waits for its packages itself. */
const startMs = 2_000

/** The platforms that go on in the clone; those that are just beginning install what they lack, as this process does. */
function standingPlatforms() {
  for (let waited = 0; ; waited += 200) {
    const running = platformsOf(root)
    if (running.length === 0 || waited >= startMs) return running
    wait(200)
  }
}

function install(withTools) {
  const running = standingPlatforms()
  if (running.length > 0) {
    console.error(
      `The packages in ${root} are not those of its package-lock.json, and process ${running.join(', ')} ` +
        'runs a platform there: stop it, then try again',
    )
    process.exit(1)
  }
  console.error('Installing the locked dependencies ...')
  const words = ['ci', '--no-audit', '--no-fund', '--loglevel=error', ...(withTools ? ['--include=dev'] : [])]
  const result = spawnSync('npm', words, { cwd: root, stdio: ['inherit', 2, 'inherit'] })
  if (result.error)
    console.error(`npm cannot be run, and without it nothing is installed: ${result.error.code}`)
  if (result.status !== 0) process.exit(result.status ?? 1)
}

/** Where files and connections are fewer, Node itself stops half-way, or takes packages that it cannot open for missing. */
const openFilesMin = 160

/** How many may be open at once; any number where the system does not say so. */
function openFilesMax() {
  try {
    const [, soft = ''] = /^Max open files +(\d+)/m.exec(readFileSync('/proc/self/limits', 'utf8')) ?? []
    return soft === '' ? Number.POSITIVE_INFINITY : Number(soft)
  } catch {
    return Number.POSITIVE_INFINITY
  }
}

const [major = 0, minor = 0] = process.versions.node.split('.').map(Number)
if (major < 20 || (major === 20 && minor < 19)) {
  console.error(`Lockstep needs Node 20.19 or newer; this is ${process.versions.node}.`)
  process.exit(1)
}
// A question mark begins the query of an address, and as such the loader of the sources reads it.
if (root.includes('?')) {
  console.error(`Lockstep cannot run in a folder with a question mark in its path: ${root}`)
  process.exit(1)
}
if (openFilesMax() < openFilesMin) {
  console.error(
    `Lockstep needs ${openFilesMin} open files, here are only ${openFilesMax()}: allow more by ulimit -n`,
  )
  process.exit(1)
}
