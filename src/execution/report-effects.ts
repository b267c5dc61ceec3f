/**
 * What reports mean beyond their orders: somebody else has traded, the broker has closed the account to us, a stop
 * of the owner's has filled. All in the transaction that books the report.
 */
import type { Instant } from '../domain/time.ts'
import { cancelOrders } from '../storage/account-orders.ts'
import { insertIncidents } from '../storage/incidents.ts'
import { disableAutotrade, disableSync, type ReportedAccount } from '../storage/reports.ts'
import { type Fragment, fragment, type Transaction } from '../storage/sql.ts'
import {
  type ExitedSymbol,
  insertExclusions,
  namedSymbols,
  type SetupSymbol,
} from '../storage/sync-writes.ts'
import { insertTransmissions } from '../storage/transmissions.ts'
import type { Batch, BatchExecution } from './report-batch.ts'

/** Writes everything that follows from a batch; its orders and executions are booked. */
export async function followBatch(
  tx: Transaction,
  batch: Batch,
  accounts: readonly ReportedAccount[],
  now: Instant,
): Promise<void> {
  await Promise.all([
    insertIncidents(tx, incidentsOf(batch, accounts)),
    disableSync(tx, strangersIn(batch, accounts), 'ExternalExecution', now),
    leaveAlone(tx, batch, now),
    insertTransmissions(tx, batch.executions.flatMap(ownTrade)),
  ])
  await close(tx, batch, now)
}

/** A trade of an account that no order of ours explains; one that is taken back is a trade the other way. */
const ownTrade = ({ order, report, side, quantity, px }: BatchExecution) =>
  order === null
    ? [
        {
          ...{ accountId: report.accountId, execId: report.reportKey, side, quantity, px },
          ...{ instrumentId: report.instrumentId, executedAt: report.occurredAt },
        },
      ]
    : []

/** Accounts whose AutoSync ends because somebody else traded there; an owner may have allowed it. */
const strangersIn = ({ foreign }: Batch, accounts: readonly ReportedAccount[]): number[] =>
  accounts
    .filter(
      ({ id, isSyncEnabled, ignoresManualOrders }) =>
        foreign.has(id) && isSyncEnabled && !ignoresManualOrders,
    )
    .map(({ id }) => id)

function incidentsOf({ incidents }: Batch, accounts: readonly ReportedAccount[]): Batch['incidents'] {
  const allowed = new Set(
    accounts.filter(({ ignoresManualOrders }) => ignoresManualOrders).map(({ id }) => id),
  )
  return incidents.filter(
    ({ kind, detail }) => kind !== 'ExternalExecution' || !allowed.has(detail.accountId as number),
  )
}

/**
 * Symbols out of which a stop of the owner's, or his own order, has taken an account. After a stop nothing else closes
 * there; after either nothing opens there, what rests at the broker included.
 */
async function leaveAlone(tx: Transaction, { executions }: Batch, now: Instant): Promise<void> {
  const filled = (source: 'L' | 'M') =>
    executions.flatMap(({ order, side, busts }: BatchExecution): ExitedSymbol[] =>
      order?.source === source && busts === null
        ? [{ setupId: order.setupId, instrumentId: order.instrumentId, side }]
        : [],
    )
  const [stopped, discarded] = [filled('L'), filled('M')]
  await insertExclusions(tx, stopped, 'AutoStopLoss', now)
  await insertExclusions(tx, discarded, 'Manual', now)
  await withdraw(tx, stopped, fragment`o.position_effect = 'C' and o.source <> 'L'`, 'stopped out', now)
  const opens = fragment`o.position_effect = 'O' and exists (
    select from setup_exclusion x where x.setup_id = o.setup_id and x.instrument_id = o.instrument_id)`
  await withdraw(tx, [...stopped, ...discarded], opens, 'symbol left alone', now)
}

async function withdraw(
  tx: Transaction,
  symbols: readonly SetupSymbol[],
  which: Fragment,
  info: string,
  at: Instant,
): Promise<void> {
  if (symbols.length === 0) return
  const named = fragment`select setup_id, instrument_id from ${namedSymbols(symbols)}`
  await cancelOrders(tx, fragment`(o.setup_id, o.instrument_id) in (${named}) and ${which}`, { at, info })
}

/** The broker lets us trade no more: what it has not seen ends, what would open is withdrawn. */
async function close(tx: Transaction, { closures }: Batch, now: Instant): Promise<void> {
  if (closures.size === 0) return
  await disableAutotrade(tx, closures, now)
  const which = fragment`o.account_id = any(${[...closures.keys()]}::bigint[])
    and (o.attempts = 0 or o.position_effect = 'O')`
  await cancelOrders(tx, which, { at: now, info: 'autotrade disabled' })
}
