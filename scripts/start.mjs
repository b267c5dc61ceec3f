/** `npm start`: installs what is missing, then hands over to the product's own command line in this process. */
import { ensureInstalled } from './install.mjs'

ensureInstalled()
const { register } = await import('tsx/esm/api')
register()
process.argv.splice(2, 0, 'start')
await import('../src/bin/lockstep.ts')
