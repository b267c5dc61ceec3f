/** What root hands over to the user under whom the server runs, in a folder that this user may change as well. */
import { chownSync, mkdirSync, mkdtempSync, rmSync, statSync, symlinkSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { expect, onTestFinished, test } from 'vitest'
import { startPostgres } from '../../src/postgres/supervisor.ts'
import { silentLog } from '../support/database-server.ts'

const isRoot = process.getuid?.() === 0
const nobody = 65534

test.runIf(isRoot)(
  'a log that leads elsewhere gives nothing of root away',
  async () => {
    // Short and reachable for every user, unlike some temporary folders.
    const scratch = mkdtempSync('/tmp/lockstep-handed-')
    onTestFinished(() => rmSync(scratch, { recursive: true, force: true }))
    chownSync(scratch, nobody, nobody)
    const own = join(scratch, 'postgres')
    const foreign = join(scratch, 'foreign')
    writeFileSync(foreign, 'of root', { mode: 0o600 })
    mkdirSync(own)
    symlinkSync(foreign, join(own, 'server.log'))
    await expect(startPostgres({ dataDir: own, log: silentLog })).rejects.toThrow('ELOOP')
    expect(statSync(foreign)).toMatchObject({ uid: 0, size: 7 })
    // And with a log of its own it starts.
    rmSync(join(own, 'server.log'))
    const server = await startPostgres({ dataDir: own, log: silentLog })
    expect(statSync(join(own, 'server.log')).uid).toBe(statSync(`/proc/${server.pid()}`).uid)
    await server.stop()
  },
  60_000,
)
