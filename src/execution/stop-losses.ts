/**
 * The stop that bounds a follower's loss in each symbol, beside whatever stops the strategy has. It follows every
 * change of what the account holds, also while AutoSync is off: it protects. Once it has begun to trade it is
 * left to finish.
 */
import { autoStopLoss } from '../domain/auto-stop-loss.ts'
import { isLive } from '../domain/codes.ts'
import { type Decimal, dec, one as unit } from '../domain/decimal.ts'
import type { Instant } from '../domain/time.ts'
import type { NewAccountOrder, OrderKey } from '../storage/account-orders.ts'
import type { Succession } from '../storage/successions.ts'
import type { SyncCase } from '../storage/sync-cases.ts'
import type { SyncInstrumentRow, SyncOrderRow } from '../storage/sync-facts.ts'
import { changedStop, isUntouched, newOrder } from './sync-orders.ts'

export interface StopChanges {
  readonly cancel: readonly OrderKey[]
  readonly change: readonly Succession[]
  readonly place: readonly NewAccountOrder[]
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

const isSame = (row: SyncOrderRow, { stop, side, quantity }: Stop): boolean =>
  row.side === side && dec(row.orderQty).minus(row.cumQty).equals(quantity) && stop.equals(row.stopPx ?? 0)

const nothing: StopChanges = { cancel: [], change: [], place: [] }

function changesOf(
  one: SyncCase,
  instrument: SyncInstrumentRow,
  current: SyncOrderRow | undefined,
  stop: Stop | null,
  revision: number,
  at: Instant,
): StopChanges {
  if (current && (current.status === '6' || !isUntouched(current))) return nothing
  if (!stop) return current ? { ...nothing, cancel: [current] } : nothing
  if (current && isSame(current, stop)) return nothing
  if (current?.side === stop.side)
    return { ...nothing, change: [changedStop(one, current, { revision, ...stop }, at)] }
  const { side, quantity } = stop
  const place = one.obstacles.rejected.has(instrument.symbol)
    ? []
    : [
        newOrder(one, instrument, at, {
          info: 'auto stop loss',
          ...{ source: 'L', sourceId: instrument.id, revision, signalType: 6, side, ordType: '3' },
          ...{ timeInForce: '1', positionEffect: 'C', orderQty: quantity, stopPx: stop.stop.toFixed() },
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
  one: SyncCase,
  rates: Rates,
  revisions: ReadonlyMap<string, number>,
  at: Instant,
): StopChanges[] {
  const current = currentStops(one)
  const byId = new Map([...one.instruments.values()].map((row) => [row.id, row]))
  return guardedInstruments(one).map((id) => {
    const instrument = byId.get(id)!
    const revision = revisions.get(`${one.setup.id} ${id}`) ?? 0
    return changesOf(one, instrument, current.get(id), wantedStop(one, instrument, rates), revision, at)
  })
}
