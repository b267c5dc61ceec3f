/** The operator's tools. Each does one thing, exits 0 when it is done, and speaks JSON with --json. */
import type { Command } from 'commander'
import { addAccountCommands } from './account-commands.ts'
import { addApprovalCommands } from './approval-commands.ts'
import { parametersOf } from './asking.ts'
import { addAuditCommands } from './audit-commands.ts'
import { addBackupCommands } from './backup-commands.ts'
import { addBrokerCommands } from './broker-commands.ts'
import { askOperation } from './call.ts'
import { addCatalogCommands } from './catalog-commands.ts'
import { ConfigError } from './config.ts'
import { addDataCommands } from './data-commands.ts'
import { examine, examineSecrets } from './doctor.ts'
import { addFamilyCommands } from './family-commands.ts'
import { addIncidentCommands } from './incident-commands.ts'
import { addKeyCommands } from './key-commands.ts'
import { addOrderCommands } from './order-commands.ts'
import { addPaymentCommands } from './payment-commands.ts'
import { addPeopleCommands } from './people-commands.ts'
import { roomOf } from './readiness.ts'
import { addSecretCommands } from './secret-commands.ts'
import { addStrategyCommands } from './strategy-commands.ts'
import { addSwitchCommands } from './switch-commands.ts'
import { type Output, readId, safeJson, say, tool, withDatabase, withPlatform } from './tool.ts'
import { addWebhookCommands } from './webhook-commands.ts'

/** Adds every command that does its work and ends. */
export function addOperatorCommands(program: Command): void {
  const group = (name: string, says: string): Command => program.command(name).description(says)

  tool(program, 'migrate', 'bring the schema of the database forward').action((output: Output) =>
    withDatabase(async () => say(output, { migrated: true }, 'The schema is up to date.')),
  )
  addPeopleCommands(program)
  addStrategyCommands(group('strategy', 'set what a strategy costs and who may have it'))
  addFamilyCommands(group('mux', 'strategies that follow another one'))
  addCatalogCommands(program)
  addPaymentCommands(group('payments', 'who collects payments, and how people pay'))
  addAccountCommands(group('accounts', 'which accounts may be used, and how'))
  addApprovalCommands(group('approvals', 'what brokers have enabled'))
  addBrokerCommands(group('brokers', 'what brokers ask for'))
  addOrderCommands(group('orders', 'why accounts got orders or none, and orders that wait for a word'))
  addWebhookCommands(group('webhooks', 'who is told when approvals end'))
  addKeyCommands(group('keys', 'issue and revoke access keys'))
  addSecretCommands(program)
  addCallCommand(
    tool(program, 'call <operation> [parameters...]', 'an operation of the interface, with all rights'),
  )
  addDataCommands(program)
  addSwitchCommands(program)
  addIncidentCommands(group('incidents', 'what happened that an operator has to look at'))
  addAuditCommands(program)
  addBackupCommands(program)
  tool(
    program,
    'doctor',
    'check the database, the disk, the clocks, workers, and what waits or has to be looked at',
  ).action(doctor)
}

/** Parameters of a query as Name=value; a body as JSON. */
function addCallCommand(command: Command): void {
  command
    .addHelpText('after', '\nParameters are Name=value, those of a body --body JSON. The answer is JSON.')
    .option('--body <json>', 'of an operation that takes one')
    .option('--host <host>', 'Gen, Geo or WL; the first that offers the operation')
    .option('--person <id>', 'with the rights of this person; otherwise those of the platform')
    .action((operation: string, words: string[], options: CallOptions) =>
      withPlatform(async (db, config) => {
        const { host, person, body } = options
        if (body !== undefined && words.length > 0)
          throw new ConfigError('parameters are either Name=value or --body, not both')
        const params = body === undefined ? parametersOf(words) : readBody(body)
        const personId = person === undefined ? undefined : readId(person)
        const results = await askOperation(db, config, { operation, host, personId, params })
        console.log(safeJson(results))
      }),
    )
}

interface CallOptions extends Output {
  body?: string
  host?: string
  person?: string
}

function readBody(text: string): object {
  try {
    const body: unknown = JSON.parse(text)
    if (typeof body === 'object' && body !== null) return body
  } catch {
    // Told below, as any other text that is no object.
  }
  throw new ConfigError('--body is a JSON object')
}

const doctor = (output: Output): Promise<void> =>
  withPlatform(async (db, config) => {
    const found = await examine(db, Date.now(), await roomOf(config.dataDir).catch(() => 0))
    const findings = [...found, await examineSecrets(config, db)]
    const lines = findings.map(({ name, ok, says }) => `${ok ? 'ok ' : 'BAD'} ${name}: ${says}`)
    say(output, { findings }, lines.join('\n'))
    if (findings.some(({ ok }) => !ok)) process.exitCode = 1
  })
