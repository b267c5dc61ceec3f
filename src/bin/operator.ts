/** The operator's tools. Each does one thing, exits 0 when it is done, and speaks JSON with --json. */
import { readFileSync } from 'node:fs'
import { basename } from 'node:path'
import type { Command } from 'commander'
import { listings } from '../contract/index.ts'
import { instrumentColumns } from '../execution/instrument-files.ts'
import { type IndexClose, readIndexCloses } from '../execution/market/index-file.ts'
import { recordingColumns } from '../execution/market/replay.ts'
import { handlers } from '../operations/index.ts'
import { createRunner } from '../operations/run.ts'
import { rotateCredentials } from '../storage/credentials.ts'
import { saveIndexCloses } from '../storage/strategy-statistics.ts'
import { setSwitch } from '../storage/switches.ts'
import { markAccounts } from '../storage/sync-due.ts'
import { rewrapWebhookSecrets } from '../storage/webhooks.ts'
import { addAccountCommands } from './account-commands.ts'
import { noteCommand } from './acting.ts'
import { addApprovalCommands, addBrokerCommands } from './approvals.ts'
import { addAuditCommands } from './audit-commands.ts'
import { addBackupCommands } from './backup-commands.ts'
import { askOperation } from './call.ts'
import { addCatalogCommands } from './catalog-commands.ts'
import { systemClock } from './clock.ts'
import { ConfigError } from './config.ts'
import { examine } from './doctor.ts'
import { environments } from './environment.ts'
import { callerOf, exportListing, parametersOf, writeExport } from './export.ts'
import { addFamilyCommands } from './family-commands.ts'
import { importColumns, importFile, importInstruments, importKinds } from './import.ts'
import { addIncidentCommands } from './incident-commands.ts'
import { addKeyCommands } from './key-commands.ts'
import { openLog } from './log.ts'
import { addOrderCommands } from './order-commands.ts'
import { addPaymentCommands } from './payment-commands.ts'
import { addPeopleCommands } from './people-commands.ts'
import { roomOf } from './readiness.ts'
import { type Played, replayFile } from './replay.ts'
import { addSecretCommands } from './secret-commands.ts'
import { openSecrets } from './secrets.ts'
import { type Output, oneOf, readId, safeJson, say, type Tool, withDatabase } from './tool.ts'
import { addWebhookCommands } from './webhooks.ts'

interface ExportOptions {
  host?: string
  person?: number
  out?: string
}

/** Adds migrate, keys, maintenance, audit, index, replay, import, export, doctor, and the tools for people and families. */
export function addOperatorCommands(program: Command): void {
  const tool = (parent: Command, name: string, says: string): Command =>
    parent.command(name).description(says).option('--json', 'answer as JSON')

  tool(program, 'migrate', 'bring the schema of the database forward').action((output: Output) =>
    withDatabase(async () => say(output, { migrated: true }, 'The schema is up to date.')),
  )
  addPeopleCommands(tool, program)
  addCatalogCommands(tool, program)
  addAccountCommands(tool, program.command('accounts').description('which accounts may be used, and how'))
  addCallCommand(
    tool(program, 'call <operation> [parameters...]', 'an operation of the interface, with all rights'),
  )
  addAccessCommands(tool, program)
  tool(program, 'maintenance <state>', 'on: every call answers 503; off: open again').action(
    (state: string, output: Output) => switchMaintenance(state, output),
  )
  addAuditCommands(tool, program)
  addBackupCommands(tool, program)
  addIncidentCommands(
    tool,
    program.command('incidents').description('what happened that an operator has to look at'),
  )
  tool(program, 'openings <state>', 'off: nobody opens anything new, everywhere; on: again').action(
    (state: string, output: Output) => switchOpenings(state, output),
  )
  addDataCommands(tool, program)
  addFamilyCommands(tool, program.command('mux').description('strategies that follow another one'))
  tool(program, 'doctor', 'check the database, its settings and its clock').action(doctor)
}

function closesOf(file: string): IndexClose[] {
  try {
    return readIndexCloses(readFileSync(file))
  } catch (error) {
    throw new ConfigError(`${file}: ${error instanceof Error ? error.message : String(error)}`)
  }
}

/** What comes from outside: prices, the index, what companies announce; and who collects payments. */
function addDataCommands(tool: Tool, program: Command): void {
  tool(
    program,
    'index <file>',
    'enter closes of the S&P 500 from a CSV with the columns date and close',
  ).action((file: string, output: Output) =>
    withDatabase(async (db) => {
      const closes = closesOf(file)
      await saveIndexCloses(db.write, closes)
      say(output, { entered: closes.length }, `${closes.length} closes were entered.`)
    }),
  )
  addReplayCommand(tool(program, 'replay <file>', `play a CSV into the market: ${recordingColumns}`))
  addImportCommands(
    tool,
    program.command('import').description('enter what companies and exchanges announce'),
  )
  addExportCommand(
    tool(program, 'export <listing> [parameters...]', 'write a listing of the interface as CSV'),
  )
  addPaymentCommands(
    tool,
    program.command('payments').description('who collects payments, and how people pay'),
  )
}

/** Who gets in, and what brokers are told. */
function addAccessCommands(tool: Tool, program: Command): void {
  addBrokerage(tool, program)
  addOrderCommands(tool, program.command('orders').description('orders that account holders confirm first'))
  addKeyCommands(tool, program.command('keys').description('issue and revoke access keys'))
  addSecretCommands(tool, program.command('secrets').description('what the platform itself keeps secret'))
}

/** What accounts need of the operator: their brokers' words and the keys of their credentials. */
function addBrokerage(tool: Tool, program: Command): void {
  const credentials = program.command('credentials').description('what customers entrust for their brokers')
  tool(credentials, 'rotate', 'wrap every credential by the first key of the ring').action((output: Output) =>
    withDatabase(async (db, config) => {
      const { keyRing } = await openSecrets(config, db)
      const secrets = await db.transaction((tx) => rewrapWebhookSecrets(tx, keyRing))
      const rotated = secrets + (await rotateCredentials(db, keyRing))
      say(output, { rotated }, `${rotated} credentials are wrapped by the first key.`)
    }),
  )
  const tools = { tool, withDatabase, say }
  addApprovalCommands(tools, program.command('approvals').description('what brokers have enabled'))
  addBrokerCommands(tools, program.command('brokers').description('what brokers ask for'))
  addWebhookCommands(tool, program.command('webhooks').description('who is told when approvals end'))
}

function readSpeed(text: string): number {
  if (!/^\d{1,6}(\.\d{1,6})?$/.test(text)) throw new ConfigError('--speed is a number, 0 or more')
  return Number(text)
}

function addReplayCommand(command: Command): void {
  command
    .option('--speed <factor>', 'recorded time per real time; 0: as fast as it is booked', readSpeed, 1)
    .action((file: string, options: Output & { speed: number }) =>
      withDatabase(async (db, config) => {
        const speed = options.speed === 0 ? Number.POSITIVE_INFINITY : options.speed
        await noteCommand(db.write, `file ${basename(file)}`)
        const played = await replayFile(config, db, openLog(config, 'replay'), { file, speed })
        say(options, { played: file, ...played }, wordsOf(file, played))
      }),
    )
}

function wordsOf(file: string, { rows, unknownSymbols }: Played): string {
  if (rows === 0) return `${file}: nothing to play. It holds no row, or all of them have been played before.`
  const done = `${file}: ${rows} rows have been played.`
  if (unknownSymbols.length === 0) return done
  const shown = unknownSymbols.slice(0, 10).join(', ')
  const more = unknownSymbols.length > 10 ? ` and ${unknownSymbols.length - 10} more` : ''
  return `${done} Those of instruments that are not here moved nothing: ${shown}${more}.`
}

function addExportCommand(command: Command): void {
  command
    .addHelpText(
      'after',
      `\nParameters are those of the operation: Name=value.\nListings: ${listings.join(', ')}`,
    )
    .option('--host <host>', 'Gen, Geo or WL; the first that offers the listing')
    .option('--person <id>', 'with the rights of this person; otherwise everything is seen', readId)
    .option('--out <file>', 'a file, readable by its owner alone, instead of standard output')
    .action((listing: string, words: string[], options: Output & ExportOptions) =>
      withDatabase(async (db, config) => {
        const environment = environments(config).orders
        const run = createRunner({
          db,
          clock: systemClock,
          handlers,
          secrets: await openSecrets(config, db),
          environment,
        })
        const caller = await callerOf(db.read, options.person)
        const pages = exportListing(run, { listing, words, host: options.host, caller })
        await writeExport(pages, options.out)
        if (options.out !== undefined)
          say(options, { listing, file: options.out }, `${listing} is in ${options.out}.`)
      }),
    )
}

/** What is known already changes nothing, so a file may be imported again. */
function addImportCommands(tool: Tool, imports: Command): void {
  tool(imports, 'instruments <file>', `a CSV with symbol and some of ${instrumentColumns.join(', ')}`).action(
    (file: string, output: Output) =>
      withDatabase(async (db) => {
        const count = await importInstruments(db, file)
        say(output, count, `${count.added} instruments are new, ${count.known} were known.`)
      }),
  )
  for (const [word, kind] of Object.entries(importKinds)) {
    tool(imports, `${word} <file>`, `a CSV with the columns ${importColumns(kind)}`).action(
      (file: string, output: Output) =>
        withDatabase(async (db) => {
          const count = await importFile(db, kind, file)
          say(output, count, `${count.added} ${word} are new, ${count.known} were known.`)
        }),
    )
  }
}

async function switchOpenings(state: string, output: Output): Promise<void> {
  const isOpen = oneOf('openings', state, ['on', 'off']) === 'on'
  await withDatabase(async (db) => {
    const now = systemClock.now()
    await setSwitch(db.write, 'noOpeningOrders', !isOpen, now)
    if (isOpen) await markAccounts(db, now)
    const says = isOpen ? 'Accounts may open positions again.' : 'No account opens anything new.'
    say(output, { openings: state }, says)
  })
}

/** Parameters of a query as Name=value; a body as JSON. */
function addCallCommand(command: Command): void {
  command
    .addHelpText('after', '\nParameters are Name=value, those of a body --body JSON. The answer is JSON.')
    .option('--body <json>', 'of an operation that takes one')
    .option('--host <host>', 'Gen, Geo or WL; the first that offers the operation')
    .option('--person <id>', 'with the rights of this person; otherwise those of the platform')
    .action((operation: string, words: string[], options: CallOptions) =>
      withDatabase(async (db, config) => {
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

async function switchMaintenance(state: string, output: Output): Promise<void> {
  if (state !== 'on' && state !== 'off') throw new ConfigError('maintenance is either on or off')
  await withDatabase(async (db) => {
    await setSwitch(db.write, 'maintenance', state === 'on', Date.now())
    say(output, { maintenance: state }, `Maintenance is ${state}.`)
  })
}

const doctor = (output: Output): Promise<void> =>
  withDatabase(async (db, { dataDir }) => {
    const findings = await examine(db, Date.now(), await roomOf(dataDir).catch(() => 0))
    const lines = findings.map(({ name, ok, says }) => `${ok ? 'ok ' : 'BAD'} ${name}: ${says}`)
    say(output, { findings }, lines.join('\n'))
    if (findings.some(({ ok }) => !ok)) process.exitCode = 1
  })
