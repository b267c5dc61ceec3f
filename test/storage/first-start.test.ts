/** A cluster whose making fails on the way: nothing of it may count as one. */
import { spawnSync } from 'node:child_process'
import {
  chmodSync,
  chownSync,
  cpSync,
  mkdirSync,
  mkdtempSync,
  readdirSync,
  readFileSync,
  rmSync,
  writeFileSync,
} from 'node:fs'
import { dirname, join } from 'node:path'
import { expect, onTestFinished, test } from 'vitest'
import { type Binaries, findBinaries } from '../../src/postgres/binaries.ts'
import { prepareCluster } from '../../src/postgres/cluster.ts'
import { prepareFolder } from '../../src/postgres/folder.ts'
import { chooseIdentity } from '../../src/postgres/identity.ts'
import { causeIn } from '../../src/postgres/server-log.ts'

/** Programs whose server, alone in a cluster, refuses to make a database, as it does on a full disk. */
function refusing({ initdb, postgres }: Binaries, scratch: string): Binaries {
  const refuses = join(scratch, 'postgres')
  writeFileSync(
    refuses,
    `#!/bin/sh\nshift\nexec '${postgres}' --single -c default_transaction_read_only=on "$@"\n`,
  )
  chmodSync(refuses, 0o755)
  return { initdb, postgres: refuses }
}

function newScratch(): string {
  const scratch = mkdtempSync('/tmp/lockstep-first-start-')
  onTestFinished(() => rmSync(scratch, { recursive: true, force: true }))
  chmodSync(scratch, 0o755) // the server may run as another user and has to pass through
  return scratch
}

test('a cluster that gets no database of ours is none', async () => {
  const scratch = newScratch()
  const folder = prepareFolder(join(scratch, 'postgres-folder'))
  const identity = chooseIdentity(folder)
  const binaries = await findBinaries(folder, identity)
  await expect(prepareCluster(folder, identity, refusing(binaries, scratch))).rejects.toThrow(
    `the database cannot be made in ${folder.root}: cannot execute CREATE DATABASE in a read-only transaction; all that was said is in ${folder.logFile}`,
  )
  expect(readFileSync(folder.logFile, 'utf8')).toContain('PostgreSQL stand-alone backend')
  expect(readdirSync(folder.root).filter((name) => /^(cluster|new-)/.test(name))).toEqual([])
  await prepareCluster(folder, identity, binaries)
  expect(readdirSync(folder.root)).toContain('cluster')
}, 30_000)

test.each([
  [
    'running bootstrap script ... 2026 [9] FATAL:  could not write to file "base/4": No space left on device',
    'its disk is full',
  ],
  [
    'FATAL:  could not resize shared memory segment "/PostgreSQL.1" to 11176 bytes: No space left on device',
    'the shared memory of this machine (/dev/shm) is too small, it takes 2 MB',
  ],
  [
    'creating ... ok\ninitdb: error: could not access directory "x": No such file',
    'could not access directory "x": No such file',
  ],
  ['creating ... ok\nkilled\n', 'killed'],
])('the cause is found in all that is said: %s', (output, cause) => expect(causeIn(output)).toBe(cause))

test('a path that a shell would read otherwise is not given to one', async () => {
  const scratch = newScratch()
  const folder = prepareFolder(join(scratch, 'postgres-folder'))
  const identity = chooseIdentity(folder)
  const { postgres } = await findBinaries(folder, identity)
  const installed = join(scratch, '$(touch harm)', 'native')
  cpSync(dirname(dirname(postgres)), installed, { recursive: true, verbatimSymlinks: true })
  await prepareCluster(folder, identity, await findBinaries(folder, identity, installed))
  expect(readdirSync(folder.root)).toContain('cluster')
  const alike = prepareFolder(join(scratch, '$(touch harm)', 'postgres-folder'))
  await expect(findBinaries(alike, identity, installed)).rejects.toThrow(
    `choose another DATA_DIR or set DATABASE_URL: initdb takes no path with " $ \` or \\, such as ${alike.root}`,
  )
}, 60_000)

test.runIf(process.getuid?.() === 0)(
  'root in a home that is closed to others makes it as whom the home belongs to',
  () => {
    const home = mkdtempSync('/tmp/lockstep-home-')
    onTestFinished(() => rmSync(home, { recursive: true, force: true }))
    const owner = { uid: 4711, gid: 4711 }
    chownSync(home, owner.uid, owner.gid)
    const dataDir = join(home, 'platform', 'data')
    mkdirSync(dataDir, { recursive: true })
    expect(chooseIdentity(prepareFolder(join(dataDir, 'postgres')))).toMatchObject({ account: owner })
  },
)

const aside = (...words: string[]) =>
  spawnSync('/bin/sh', ['-c', 'exec setpriv --bounding-set=-chown "$@"', 'sh', ...words], {
    encoding: 'utf8',
  })
const canLackRights =
  process.getuid?.() === 0 && aside('unshare', '--user', '--map-user=65534', 'true').status === 0

test.runIf(canLackRights)('root that may give no file away makes it in a namespace', () => {
  const program = `
    import { prepareFolder } from './src/postgres/folder.ts'
    import { chooseIdentity } from './src/postgres/identity.ts'
    console.log(chooseIdentity(prepareFolder('${join(newScratch(), 'postgres-folder')}')).prefix[0])`
  const words = ['--import', './scripts/typescript.mjs', '--input-type=module', '-e', program]
  expect(aside(process.execPath, ...words).stdout).toBe('unshare\n')
})
