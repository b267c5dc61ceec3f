/** The product's api process as `start` runs it, with rate limits off. Started as a child with its database. */
import { createServer } from '../../src/http/server.ts'
import { handlers } from '../../src/operations/index.ts'
import { createOperations } from '../../src/operations/operations.ts'
import { openDatabase } from '../../src/storage/database/database.ts'
import { quiet, secrets } from './platform.ts'

const [url = ''] = process.argv.slice(2)
const db = await openDatabase({ url, applicationName: 'bench api', log: quiet })
const operations = await createOperations({
  db,
  clock: { now: () => Date.now() },
  handlers,
  secrets,
  keyEnvironment: 'bench',
  environment: 'B',
  log: quiet,
})
const native = { dialect: 'native' } as const
const server = createServer({
  operations,
  hosts: { Gen: native, Geo: native, WL: native },
  isCounting: () => false,
  log: quiet,
})
process.send?.(await server.listen(0, '127.0.0.1'))
process.once('disconnect', () => process.exit())
