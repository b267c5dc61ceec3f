/**
 * The stop that bounds a follower's loss in each symbol, beside whatever stops the strategy has. It follows every
 * change of what the account holds, also while AutoSync is off: it protects. Once it has begun to trade it is
 * left to finish, as far as there is something left to close.
 */

import { isLive } from '../../domain/codes.ts'
import { type Decimal, dec, sum, one as unit } from '../../domain/decimal.ts'
import { autoStopLoss } from '../../domain/mirror/auto-stop-loss.ts'
import { isRefused, type PlannedSync } from '../../domain/mirror/mirror-sync-plan.ts'
import type { Instant } from '../../domain/time.ts'
import type { NewAccountOrder, OrderKey } from '../../storage/mirror/account-orders.ts'
import type { Succession } from '../../storage/mirror/successions.ts'
import type { SyncCase } from '../../storage/mirror/sync-cases.ts'
import type { SyncInstrumentRow, SyncOrderRow } from '../../storage/mirror/sync-facts.ts'
import type { RevisionOf } from '../../storage/mirror/sync-writes.ts'
import { changedStop, isUntouched, newOrder } from './sync-orders.ts'

export interface StopChanges {
  readonly cancel: readonly OrderKey[]
  readonly change: readonly Succession[]
  readonly place: readonly NewAccountOrder[]
}

/** A setup and what a cycle does there. */
export interface PlannedCase {
  readonly one: SyncCase
  readonly plan: PlannedSync
}

/** Account currency per unit of a currency. */
export type Rates = ReadonlyMap<string, Decimal>

type Stop = NonNullable<ReturnType<typeof autoStopLoss>>

/** The stop that an instrument needs now; null where none is placed. */
function wantedStop(one: SyncCase, instrument: SyncInstrumentRow, rates: Rates): Stop | null {
  const held = one.held.get(instrument.id)
  if (!held || held.avgPx === null) return null
  return autoStopLoss({
    quantity: dec(held.quantity),
    averagePrice: dec(held.avgPx),
    dollars: dec(String(one.setup.auto_stop_loss_dollars ?? 0)),
    pointValue: dec(instrument.pointValue),
    exchangeRate: rates.get(instrument.currency) ?? unit,
    tick: dec(instrument.tick),
  })
}

/** Whether a stop that has not traded is the wanted one. */
const isSame = (row: SyncOrderRow, { stop, side, quantity }: Stop): boolean =>
  row.side === side && quantity.equals(row.orderQty) && stop.equals(row.stopPx ?? 0)

/** Whether the broker has refused to make just this of it. */
const wasRefused = ({ obstacles }: SyncCase, { id }: SyncOrderRow, { stop, quantity }: Stop): boolean =>
  isRefused(obstacles, { clientOrderId: `${id}`, type: '3', quantity, limit: null, stop })

/**
 * True where all that is held is being closed at the market. A stop placed beside that would trade past flat: what two
 * exits overshot would come back as a position on the other side. What a holder is asked about first closes nothing yet.
 */
function isClosed({ one, plan }: PlannedCase, { id, symbol }: SyncInstrumentRow): boolean {
  if (one.setup.is_confirmation_needed === true) return false
  const held = dec(one.held.get(id)?.quantity ?? 0)
  const side = held.isNegative() ? '1' : '2'
  const planned = plan.actions.close.filter((order) => order.symbol === symbol && order.side === side)
  const working = one.input.orders.filter(
    (order) => order.symbol === symbol && order.side === side && order.type === '1',
  )
  const closing = [...planned.map(({ quantity }) => quantity), ...working.map(({ leaves }) => leaves)]
  return sum(closing).greaterThanOrEqualTo(held.abs())
}

const nothing: StopChanges = { cancel: [], change: [], place: [] }

/**
 * What becomes of a stop that has begun to trade. It keeps its price and works for no more than is held on the side that
 * it closes: what others have closed meanwhile it would open the other way.
 */
function finishStop(
  one: SyncCase,
  current: SyncOrderRow,
  instrument: SyncInstrumentRow,
  revision: number,
  at: Instant,
): StopChanges {
  const position = dec(one.held.get(instrument.id)?.quantity ?? 0)
  const closable = current.side === '2' ? position : position.negated()
  if (!closable.greaterThan(0)) return { ...nothing, cancel: [current] }
  const cut: Stop = { stop: dec(current.stopPx ?? 0), side: current.side, quantity: closable }
  if (closable.greaterThanOrEqualTo(dec(current.orderQty).minus(current.cumQty))) return nothing
  if (wasRefused(one, current, cut)) return nothing
  return { ...nothing, change: [changedStop(one, current, { revision, ...cut }, at)] }
}

function changesOf(
  { one, plan }: PlannedCase,
  instrument: SyncInstrumentRow,
  current: SyncOrderRow | undefined,
  stop: Stop | null,
  revision: number,
  at: Instant,
): StopChanges {
  if (current?.status === '6') return nothing
  if (current && !isUntouched(current)) return finishStop(one, current, instrument, revision, at)
  if (!stop) return current ? { ...nothing, cancel: [current] } : nothing
  if (current && (isSame(current, stop) || wasRefused(one, current, stop))) return nothing
  if (current?.side === stop.side)
    return { ...nothing, change: [changedStop(one, current, { revision, ...stop }, at)] }
  const { side, quantity } = stop
  // What was refused to open says nothing about what protects.
  const place =
    one.obstacles.rejected.get(instrument.symbol)?.closes === true || isClosed({ one, plan }, instrument)
      ? []
      : [
          newOrder(one, instrument, at, {
            info: 'auto stop loss',
            source: 'L',
            sourceId: instrument.id,
            revision,
            signalType: 6,
            side,
            ordType: '3',
            timeInForce: '1',
            positionEffect: 'C',
            orderQty: quantity,
            stopPx: stop.stop.toFixed(),
          }),
        ]
  return { cancel: current ? [current] : [], change: [], place }
}

/** The protective stop at work in each instrument of a setup. */
const currentStops = (one: SyncCase): Map<number, SyncOrderRow> =>
  new Map(
    [...one.orders.values()]
      .filter(({ source, status }) => source === 'L' && isLive(status))
      .map((row) => [row.instrumentId, row]),
  )

/** Instruments in which a setup has, or needs, a protective stop. */
export function guardedInstruments(one: SyncCase): number[] {
  if (one.setup.isAutotradeDisabled) return []
  const isGuarded = Number(one.setup.auto_stop_loss_dollars) > 0
  return [...new Set([...(isGuarded ? one.held.keys() : []), ...currentStops(one).keys()])]
}

/** Brings the protective stops of a setup to what it holds. */
export function followStops(
  { one, plan }: PlannedCase,
  rates: Rates,
  revisionOf: RevisionOf,
  at: Instant,
): StopChanges[] {
  const current = currentStops(one)
  const byId = new Map([...one.instruments.values()].map((row) => [row.id, row]))
  return guardedInstruments(one).map((id) => {
    const instrument = byId.get(id)!
    const revision = revisionOf({ setupId: one.setup.id, sourceId: id })
    return changesOf(
      { one, plan },
      instrument,
      current.get(id),
      wantedStop(one, instrument, rates),
      revision,
      at,
    )
  })
}
