/**
 * What reports mean beyond their orders: somebody else has traded, the broker has closed the account to us, a stop
 * of the owner's has filled. All in the transaction that books the report.
 */
import type { Instant } from '../../domain/time.ts'
import type { ReportedAccount } from '../../storage/brokers/reports.ts'
import type { Transaction } from '../../storage/database/sql.ts'
import { disableAutotrade, disableSync } from '../../storage/mirror/disabling.ts'
import { type ExitedSymbol, endExclusionsIn, insertExclusions } from '../../storage/mirror/exclusions.ts'
import { cancelClosings, cancelExcluded } from '../../storage/mirror/sync-writes.ts'
import { insertTransmissions, type OwnTrade } from '../../storage/mirror/transmissions.ts'
import { insertIncidents } from '../../storage/work/incidents.ts'
import type { TradeOfToday } from './late-executions.ts'
import type { Batch, BatchExecution } from './report-batch.ts'

/** Whom a batch concerns, and what its executions that were told late come to in the units of today. */
interface Booked {
  readonly accounts: readonly ReportedAccount[]
  readonly ofToday: ReadonlyMap<BatchExecution, TradeOfToday>
}

/** Writes everything that follows from a batch; its orders and executions are booked. */
export async function followBatch(
  tx: Transaction,
  batch: Batch,
  { accounts, ofToday }: Booked,
  now: Instant,
): Promise<void> {
  await Promise.all([
    insertIncidents(tx, incidentsOf(batch, accounts)),
    disableSync(tx, strangersIn(batch, accounts), 'ExternalExecution', now),
    leaveAlone(tx, batch, now),
    insertTransmissions(tx, ownTrades(batch, ofToday)),
  ])
  await disableAutotrade(tx, batch.closures, now)
}

/**
 * Trades of accounts that no order of ours explains; one that is taken back is a trade the other way. What takes back or
 * corrects one of the same batch concerns what that one concerned. One of which splits have left nothing is no trade.
 */
function ownTrades({ executions }: Batch, ofToday: Booked['ofToday']): OwnTrade[] {
  const roots = new Map<string, string | null>()
  return executions.flatMap((execution) => {
    const { order, report, side, quantity, px, busts } = execution
    if (order !== null) return []
    const { accountId, reportKey: execId, instrumentId, occurredAt: executedAt } = report
    const about = busts?.execId ?? report.corrects
    const root = roots.get(`${accountId} ${about}`)
    const mends = root === undefined ? about : root
    roots.set(`${accountId} ${execId}`, mends)
    const trade = { side, quantity, px, executedAt, ...ofToday.get(execution) }
    return trade.quantity.isZero() ? [] : [{ accountId, execId, instrumentId, mends, ...trade }]
  })
}

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
 * there; after either nothing opens there, what rests at the broker included. An exit whose executions were all taken
 * back has taken it out of nothing; of one that was replaced the last of its chain may have some.
 */
async function leaveAlone(tx: Transaction, { executions, changes }: Batch, now: Instant): Promise<void> {
  const isUndone = new Set(changes.flatMap(({ id, cumQty }) => (cumQty.isZero() ? [id] : [])))
  const exits = (source: 'L' | 'M', isTakenBack: boolean) =>
    executions.flatMap(({ order, side, busts }: BatchExecution): ExitedSymbol[] =>
      order?.source === source &&
      (isTakenBack ? busts !== null && isUndone.has(order.id) && order.status !== '5' : busts === null)
        ? [{ setupId: order.setupId, instrumentId: order.instrumentId, side }]
        : [],
    )
  const [stopped, discarded] = [exits('L', false), exits('M', false)]
  await insertExclusions(tx, stopped, 'AutoStopLoss', now)
  await insertExclusions(tx, discarded, 'Manual', now)
  await endExclusionsIn(tx, exits('L', true), now, 'AutoStopLoss')
  await endExclusionsIn(tx, exits('M', true), now, 'Manual')
  await cancelClosings(tx, stopped, now)
  await cancelExcluded(tx, [...stopped, ...discarded], now)
}
