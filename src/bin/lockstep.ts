/** The command line: every way of running the product, and the operator's tools. */
import { Command } from 'commander'
import { ConfigError } from './config.ts'
import { faultOf } from './faults.ts'
import { addOperatorCommands } from './operator.ts'
import { endsAtOnce } from './process.ts'
import { addRunCommands } from './run.ts'

const program = new Command('lockstep')
  .description('Self-hosted social trading: strategy orders, filled and mirrored into followers’ accounts.')
  .showHelpAfterError()
addRunCommands(program)
addOperatorCommands(program)

endsAtOnce()
process.stdout.on('error', (error: NodeJS.ErrnoException) => {
  // Whoever reads our output has seen enough: what was begun is done to its end.
  if (error.code === 'EPIPE') return
  // A process that runs on closes what it holds before it ends.
  if (process.listenerCount('uncaughtException') > 0) throw error
  console.error(faultOf(new ConfigError(`standard output cannot be written: ${error.code}`)))
  process.exit(1)
})
try {
  await program.parseAsync()
} catch (error) {
  console.error(faultOf(error))
  // What was opened on the way must not keep a failed command alive.
  process.exit(1)
}
