/** The operator's tools. Each does one thing, exits 0 when it is done, and speaks JSON with --json. */
import { readFileSync } from 'node:fs'
import type { Command } from 'commander'
import { readIndexCloses } from '../execution/market/index-file.ts'
import { isRefused } from '../operations/context.ts'
import { issueKey, revokeKey } from '../operations/keys.ts'
import { operationsToCome } from '../operations/to-come.ts'
import { auditViolations } from '../storage/audit.ts'
import { retryCharges } from '../storage/charges.ts'
import { saveIndexCloses } from '../storage/strategy-statistics.ts'
import { setSwitch } from '../storage/switches.ts'
import { ConfigError } from './config.ts'
import { examine } from './doctor.ts'
import { environments } from './environment.ts'
import { openLog } from './log.ts'
import { attachStripeMethod } from './payments.ts'
import { addPeopleCommands } from './people-commands.ts'
import { replayFile } from './replay.ts'
import { loadSecrets } from './secrets.ts'
import { type Output, say, type Tool, withDatabase } from './tool.ts'

const yearMs = 365 * 86_400_000
const auditLimitMs = 300_000

/** Adds migrate, keys, maintenance, audit, index, replay, doctor, operations, and the tools for people. */
export function addOperatorCommands(program: Command): void {
  const tool = (parent: Command, name: string, says: string): Command =>
    parent.command(name).description(says).option('--json', 'answer as JSON')

  tool(program, 'migrate', 'bring the schema of the database forward').action((output: Output) =>
    withDatabase(async () => say(output, { migrated: true }, 'The schema is up to date.')),
  )
  addPeopleCommands(tool, program)
  addKeyCommands(tool, program.command('keys').description('issue and revoke access keys'))
  tool(program, 'maintenance <state>', 'on: every call answers 503; off: open again').action(
    (state: string, output: Output) => switchMaintenance(state, output),
  )
  tool(
    program,
    'audit',
    'check every book against every other; exit 1 when something does not add up',
  ).action(audit)
  tool(
    program,
    'index <file>',
    'enter closes of the S&P 500 from a CSV with the columns date and close',
  ).action((file: string, output: Output) =>
    withDatabase(async (db) => {
      const closes = readIndexCloses(readFileSync(file))
      await saveIndexCloses(db.write, closes)
      say(output, { entered: closes.length }, `${closes.length} closes were entered.`)
    }),
  )
  tool(program, 'replay <file>', 'play a CSV of bars or quotes into the market')
    .option('--speed <factor>', 'recorded time per real time; 0: as fast as it is booked', Number, 1)
    .action((file: string, options: Output & { speed: number }) =>
      withDatabase(async (db, config) => {
        const speed = options.speed === 0 ? Number.POSITIVE_INFINITY : options.speed
        await replayFile(config, db, openLog(config, 'replay'), { file, speed })
        say(options, { played: file }, `${file} has been played.`)
      }),
    )
  addPaymentCommands(
    tool,
    program.command('payments').description('who collects payments, and how people pay'),
  )
  tool(program, 'doctor', 'check the database, its settings and its clock').action(doctor)
  tool(program, 'operations', 'list the operations that are still to come')
    .option('--missing', 'the same; the list is what is missing')
    .action((output: Output) =>
      say(
        output,
        { missing: operationsToCome },
        [`${operationsToCome.length} operations answer 503 until they are built:`, ...operationsToCome].join(
          '\n  ',
        ),
      ),
    )
}

function addKeyCommands(tool: Tool, keys: Command): void {
  tool(keys, 'issue', 'issue a key; it is shown once')
    .requiredOption('--person <id>', 'whose key it is', Number)
    .option('--comment <text>', 'what it is for', '')
    .option('--days <n>', 'how long it lives', Number, 365)
    .action((options: Output & { person: number; comment: string; days: number }) =>
      withDatabase(async (db, config) => {
        const now = Date.now()
        const order = {
          personId: options.person,
          env: environments(config).keys,
          comment: options.comment,
          expiresAt: now + (options.days * yearMs) / 365,
          now,
        }
        const issued = await db.transaction((tx) => issueKey(tx, loadSecrets(config), order))
        if (isRefused(issued))
          throw new ConfigError(issued.message ?? `there is no living person ${options.person}`)
        say(options, { key: issued.key, keyId: issued.keyId }, issued.key)
      }),
    )
  tool(keys, 'revoke <keyId>', 'end a key; every process refuses it within a second').action(
    (keyId: string, output: Output) =>
      withDatabase(async (db) => {
        const revoked = await revokeKey(db.write, keyId, Date.now())
        if (!revoked) throw new ConfigError(`there is no living key ${keyId}`)
        say(output, { revoked: keyId }, `Key ${keyId} is revoked.`)
      }),
  )
}

function addPaymentCommands(tool: Tool, payments: Command): void {
  tool(payments, 'use <provider>', 'simulated or stripe: who is asked for payments from now on').action(
    (provider: string, output: Output) =>
      withDatabase(async (db, config) => {
        if (provider !== 'simulated' && provider !== 'stripe')
          throw new ConfigError('the provider is either simulated or stripe')
        if (provider === 'stripe' && !config.stripe) throw new ConfigError('STRIPE_SECRET_KEY is not set')
        await setSwitch(db.write, 'paymentProvider', provider, Date.now())
        say(output, { provider }, `Payments are collected by ${provider}.`)
      }),
  )
  tool(payments, 'attach <method>', "let a person pay with a payment method of Stripe's")
    .requiredOption('--person <id>', 'who pays', Number)
    .action((method: string, options: Output & { person: number }) =>
      withDatabase(async (db, config) => {
        await attachStripeMethod(config, db, { personId: options.person, method })
        say(options, { person: options.person, method }, `Person ${options.person} pays with ${method}.`)
      }),
    )
  tool(payments, 'retry <subscription>', 'ask once more for what was given up').action(
    (subscription: string, output: Output) =>
      withDatabase(async (db) => {
        const isAsked = await retryCharges(db.write, Number(subscription), Date.now())
        if (!isAsked) throw new ConfigError(`subscription ${subscription} owes nothing that was given up`)
        say(output, { subscription: Number(subscription) }, 'It is asked for again.')
      }),
  )
}

async function switchMaintenance(state: string, output: Output): Promise<void> {
  if (state !== 'on' && state !== 'off') throw new ConfigError('maintenance is either on or off')
  await withDatabase(async (db) => {
    await setSwitch(db.write, 'maintenance', state === 'on', Date.now())
    say(output, { maintenance: state }, `Maintenance is ${state}.`)
  })
}

const audit = (output: Output): Promise<void> =>
  withDatabase(async (db) => {
    const violations = await db.transaction(auditViolations, {
      readOnly: true,
      statementTimeoutMs: auditLimitMs,
    })
    const lines = violations.map(({ rule, detail }) => `${rule}: ${JSON.stringify(detail)}`)
    say(output, { violations }, lines.length === 0 ? 'Every book adds up.' : lines.join('\n'))
    if (violations.length > 0) process.exitCode = 1
  })

const doctor = (output: Output): Promise<void> =>
  withDatabase(async (db) => {
    const findings = await examine(db, Date.now())
    const lines = findings.map(({ name, ok, says }) => `${ok ? 'ok ' : 'BAD'} ${name}: ${says}`)
    say(output, { findings }, lines.join('\n'))
    if (findings.some(({ ok }) => !ok)) process.exitCode = 1
  })
