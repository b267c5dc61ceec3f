/** A process that says when it is ready and that it has closed. */

import { readConfig } from '../../src/bin/config.ts'
import { openLog } from '../../src/bin/log.ts'
import { endsWith } from '../../src/bin/process.ts'

endsWith(openLog(readConfig({}), 'child'), async () => console.log('closed'))
console.log('ready')
setInterval(() => undefined, 1000)
