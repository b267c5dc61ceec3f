/** The command line: every way of running the product, and the operator's tools. */
import { createRequire } from 'node:module'
import { Command } from 'commander'
import { faultOf } from './faults.ts'
import { addOperatorCommands } from './operator.ts'
import { endsAtOnce, outlivesReaders } from './process.ts'
import { addRunCommands } from './run.ts'

const { version } = createRequire(import.meta.url)('../../package.json') as { version: string }

const program = new Command('lockstep')
  .description('Self-hosted social trading: strategy orders, filled and mirrored into followers’ accounts.')
  .version(version, '--version', 'say which version this is')
  .showHelpAfterError()
addRunCommands(program)
addOperatorCommands(program)

endsAtOnce()
outlivesReaders()
try {
  await program.parseAsync()
} catch (error) {
  console.error(faultOf(error))
  // What was opened on the way must not keep a failed command alive.
  process.exit(1)
}
