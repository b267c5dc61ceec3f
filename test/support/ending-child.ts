/**
 * A process that says when it is ready and that it has closed; a child of `start` and one that waits for a signal of a
 * name are not done before a second signal.
 */

import { once } from 'node:events'
import { readConfig } from '../../src/bin/config.ts'
import { openLog } from '../../src/bin/log.ts'
import { endsWith, outlivesReaders } from '../../src/bin/process.ts'

const waitsFor = process.env.WAITS_FOR ?? (process.env.LOCKSTEP_HELD && 'SIGTERM')
outlivesReaders()
endsWith(openLog(readConfig({}), 'child'), async () => {
  if (waitsFor) {
    console.log('closing')
    await once(process, waitsFor)
  }
  console.log('closed')
})
console.log('ready')
setInterval(() => undefined, 1000)
