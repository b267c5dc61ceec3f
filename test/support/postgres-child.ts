/**
 * A process of its own that runs the embedded server of the folder in its first argument. Prints one line of
 * JSON when ready, survives Ctrl-C as the product does until it has finished, and stops with its standard input.
 */
import { startPostgres } from '../../src/postgres/supervisor.ts'
import { silentLog } from './database-server.ts'

process.on('SIGINT', () => process.stdout.write('interrupted\n'))
const server = await startPostgres({ dataDir: process.argv[2] ?? '', log: silentLog })
process.stdout.write(`${JSON.stringify({ pid: server.pid(), url: server.url, uid: process.getuid?.() })}\n`)
process.stdin.on('end', () => {
  void server.stop().then(() => process.exit(0))
})
process.stdin.resume()
