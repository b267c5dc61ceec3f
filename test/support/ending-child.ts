/** A process that says when it is ready and that it has closed; a child of `start` is not done before a second signal. */

import { once } from 'node:events'
import { readConfig } from '../../src/bin/config.ts'
import { openLog } from '../../src/bin/log.ts'
import { endsWith } from '../../src/bin/process.ts'

endsWith(openLog(readConfig({}), 'child'), async () => {
  if (process.env.LOCKSTEP_HELD) {
    console.log('closing')
    await once(process, 'SIGTERM')
  }
  console.log('closed')
})
console.log('ready')
setInterval(() => undefined, 1000)
