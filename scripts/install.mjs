/**
 * Installs the locked dependencies when they are missing, so that a fresh clone runs with one command.
 * Plain JavaScript without imports from packages: it runs before any package is there.
 */
import { spawnSync } from 'node:child_process'
import { existsSync, readFileSync } from 'node:fs'
import { dirname, join } from 'node:path'
import { fileURLToPath } from 'node:url'

export const root = join(dirname(fileURLToPath(import.meta.url)), '..')

/** True when the installed tree is the one that the lockfile names. */
function isInstalled() {
  const installed = join(root, 'node_modules', '.package-lock.json')
  if (!existsSync(installed)) return false
  const wanted = JSON.parse(readFileSync(join(root, 'package-lock.json'), 'utf8')).packages
  const found = JSON.parse(readFileSync(installed, 'utf8')).packages
  return Object.entries(wanted).every(
    ([path, entry]) => path === '' || entry.optional === true || found[path]?.version === entry.version,
  )
}

/**
 * Runs `npm ci` if needed; ends the process with npm's own status when it fails. Standard output stays for what the
 * program says: a command may be asked for JSON.
 */
export function ensureInstalled() {
  if (isInstalled()) return
  console.error('Installing the locked dependencies ...')
  const result = spawnSync('npm', ['ci', '--no-audit', '--no-fund', '--loglevel=error'], {
    cwd: root,
    stdio: ['inherit', 2, 'inherit'],
  })
  if (result.status !== 0) process.exit(result.status ?? 1)
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
