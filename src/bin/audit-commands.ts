/** What the operator asks of the books and of the audit log. Exit 1 when something does not add up. */
import type { Command } from 'commander'
import { listAuditEntries } from '../storage/database/audit-log.ts'
import { auditViolations } from '../storage/operating/audit.ts'
import { verifyChains } from '../storage/operating/audit-chain.ts'
import { checkIndexes, type IndexReport } from '../storage/operating/damage.ts'
import { auditPublicKey, headsFile, readHeads } from './audit-heads.ts'
import { ConfigError, readConfig } from './config.ts'
import { checkPlatform } from './database.ts'
import { hasSecret } from './secrets.ts'
import { type Output, readWhole, say, sayList, tool, utcOf, withPlatform } from './tool.ts'

const booksLimitMs = 300_000
/** Of one index. Somebody waits for the answer, and may end that. */
const indexLimitMs = 3_600_000

/** Adds audit with verify, head and log. */
export function addAuditCommands(program: Command): void {
  const audit = tool(
    program,
    'audit',
    'check every book against every other, and the indexes; exit 1 when something does not add up',
  ).action(checkBooks)
  tool(audit, 'verify', 'compute the audit log again and hold it against its signed head')
    .option('--head <file>', 'a copy of the signed head that was kept elsewhere')
    .action((options: Output & { head?: string }, command: Command) =>
      verifyLog({ ...options, ...outer(command) }),
    )
  tool(audit, 'head', 'where the audit log ended when it was last signed, and the key to check that').action(
    (_: Output, command: Command) => showHead(outer(command)),
  )
  tool(audit, 'log', 'the latest entries, the newest first')
    .option('--limit <n>', 'how many', (text) => readWhole('--limit', text, 1), 50)
    .option('--object <name>', 'of one object alone, for example "person 12"')
    .action((options: Output & { limit: number; object?: string }, command: Command) =>
      showLog({ ...options, ...outer(command) }),
    )
}

/** With --json before or after the last word of the command. */
const outer = (command: Command): Output => command.optsWithGlobals<Output>()

const checkBooks = (output: Output): Promise<void> =>
  withPlatform(async (db) => {
    const violations = await db.transaction(auditViolations, {
      readOnly: true,
      statementTimeoutMs: booksLimitMs,
    })
    const indexes = await checkIndexes(db, { limitMs: indexLimitMs })
    const lines = [
      ...violations.map(({ rule, detail }) => `${rule}: ${JSON.stringify(detail)}`),
      ...(indexes?.damaged ?? []).map(({ index, says }) => `the index ${index} is damaged: ${says}`),
    ]
    const sound = `Every book adds up${indexWords(indexes)}`
    sayList(output, { violations, indexes: indexes ?? null }, lines, sound)
    if (lines.length > 0) process.exitCode = 1
  })

/** What was seen of indexes of which none is damaged. */
function indexWords(indexes: IndexReport | undefined): string {
  if (indexes === undefined)
    return '. The indexes were not checked: that takes a superuser, or amcheck installed by one.'
  const { checked, unread } = indexes
  const sound = `, and ${checked} indexes lead to all of their rows.`
  return unread.length === 0 ? sound : `${sound} These took too long to be checked: ${unread.join(', ')}.`
}

const verifyLog = ({ head, ...output }: Output & { head?: string }): Promise<void> =>
  withPlatform(async (db, config) => {
    const file = head ?? headsFile(config)
    const kept = readHeads(config, file)
    if (!kept && head !== undefined) throw new ConfigError(`there is no file ${head}`)
    const report = await verifyChains(db.read, kept?.heads ?? [])
    const isUnanchored = !kept && report.verified > 0
    const lines = report.findings.map(({ says }) => says)
    if (isUnanchored)
      lines.push(`there is no signed head in ${file}: whether the end is missing cannot be told`)
    const signedAt = kept?.signedAt ?? null
    const sound = `${report.verified} entries are as they were entered; ${report.unsealed} wait to be chained.`
    sayList(output, { ...report, signedAt }, lines, sound)
    if (lines.length > 0) process.exitCode = 1
  })

function showHead(output: Output): void {
  const config = readConfig(process.env)
  if (config.databaseUrl === undefined) checkPlatform(config.dataDir)
  // It would be made by the question, and its key shown, by which nothing was ever signed.
  if (!hasSecret(config))
    throw new ConfigError(
      `there is no secret in ${config.dataDir}: name the folder or the secret of the worker by DATA_DIR or LOCKSTEP_SECRET`,
    )
  const publicKey = auditPublicKey(config)
  const kept = readHeads(config)
  const lines = kept?.heads.map(({ chain, seq, hash }) => `chain ${chain}: entry ${seq}, ${hash}`) ?? []
  const signing = kept ? `signed at ${kept.signedAt}: ${kept.signature}` : 'nothing has been signed yet'
  say(output, { ...kept, publicKey }, [...lines, signing, publicKey.trim()].join('\n'))
}

const showLog = ({ limit, object, ...output }: Output & { limit: number; object?: string }): Promise<void> =>
  withPlatform(async (db) => {
    const entries = await listAuditEntries(db.read, { limit, object })
    const lines = entries.map(
      ({ occurredAt, actor, who, operation, object: what, before, after }) =>
        `${utcOf(occurredAt)} ${actor} ${who ?? ''} ${operation}: ${what} ${JSON.stringify(before)} -> ${JSON.stringify(after)}`,
    )
    const facts = entries.map(({ occurredAt, ...entry }) => ({ occurredUtc: utcOf(occurredAt), ...entry }))
    sayList(output, { entries: facts }, lines, 'There are no such entries.')
  })
