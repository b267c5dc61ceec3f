/**
 * Messages of a FIX broker as report rows and incidents. Whose account a report is about has to be certain: what is
 * malformed, or names an account that is not ours, or not the order's, is parked for the operator.
 */
import {
  type FixIntake,
  findReportedPlaces,
  type ReportedPlace,
} from '../../../storage/brokers/fix-sessions.ts'
import type { NewReport, NewTotal } from '../../../storage/brokers/reports.ts'
import type { IncidentKind, NewIncident } from '../../../storage/work/incidents.ts'
import type { WorkContext } from '../../context.ts'
import { ourOrderKey } from '../../own-orders.ts'
import { type Reading, type ReportDraft, readCancelReject, readExecutionReport } from './executions.ts'
import { type FixMessage, readable } from './message.ts'

/** Reads what a message says of orders; nothing where it is about something else. */
export function readingOf(message: FixMessage): Reading | undefined {
  if (message.type === '8') return readExecutionReport(message)
  return message.type === '9' ? readCancelReject(message) : undefined
}

/** What is to be written of messages that arrived over a connection. */
export async function readMessages(
  ctx: WorkContext,
  { connection, isCompared }: { readonly connection: string; readonly isCompared: boolean },
  messages: readonly FixMessage[],
): Promise<Omit<FixIntake, 'nextInbound'>> {
  const now = ctx.clock.now()
  const incidents: NewIncident[] = []
  const park = (message: FixMessage, kind: IncidentKind, reason: string): void => {
    const detail = { connection, reason, message: readable(message) }
    incidents.push({ key: `${kind}:${connection}:${message.seqNum}:${now}`, kind, detail, occurredAt: now })
  }
  const drafts: { draft: ReportDraft; message: FixMessage }[] = []
  for (const message of messages) {
    const reading = readingOf(message)
    if (reading && 'malformed' in reading) park(message, 'MalformedReport', reading.malformed)
    else for (const draft of reading?.reports ?? []) drafts.push({ draft, message })
  }
  const { environment } = ctx.settings
  const names = drafts.map(({ draft: { account, clientOrderId } }) => ({
    account,
    key: ourOrderKey(environment, clientOrderId),
  }))
  const places = names.length > 0 ? await findReportedPlaces(ctx.db.read, connection, names) : []
  const reports: (NewReport | NewTotal)[] = []
  for (const [index, { draft, message }] of drafts.entries()) {
    const whose = accountOf(draft, places[index])
    // Nobody asks a broker whose accounts are not compared what an order of which it counts more has executed.
    const counted = isCompared ? draft.counted : null
    if (typeof whose === 'string') park(message, 'ForeignReport', whose)
    else reports.push(rowOf({ ...draft, counted }, whose, places[index]?.instrumentId ?? null))
  }
  return { reports, incidents }
}

/** The account a report is about, or why that is not certain. */
export function accountOf(
  { account }: Pick<ReportDraft, 'account'>,
  place: ReportedPlace | undefined,
): { readonly accountId: number; readonly brokerId: number } | string {
  const { byNumber = null, bySetup = null, brokerId = null } = place ?? {}
  if (account !== null && byNumber === null) return 'no account of ours has this number'
  if (byNumber !== null && bySetup !== null && byNumber !== bySetup) return 'the order is another account’s'
  const accountId = byNumber ?? bySetup
  if (accountId === null || brokerId === null) return 'neither account nor order is known'
  return { accountId, brokerId }
}

/** A message that names no symbol is about its order's. */
function rowOf(
  { kind, key, clientOrderId, symbol, text, occurredAt, traded, counted: cumQty }: ReportDraft,
  whose: { readonly accountId: number; readonly brokerId: number },
  ofOrder: number | null,
): NewReport | NewTotal {
  const row: NewReport = {
    ...whose,
    reportKey: key,
    clientOrderId,
    kind,
    text,
    occurredAt,
    symbol,
    instrumentId: symbol === '' ? ofOrder : null,
    cumQty,
  }
  return traded ? { ...row, ...traded } : row
}
