/**
 * Variants follow their parents: what AutoSync decides for an account is carried out in the order books of another
 * strategy. Both strategies are locked, both sides are read whole, so a look is decided from the present alone and a
 * second look without news does nothing.
 */

import { isLive, type OrdType, type Side } from '../../domain/codes.ts'
import { type Decimal, dec, sign, zero } from '../../domain/decimal.ts'
import { oneOfEach } from '../../domain/group.ts'
import { openingRejection } from '../../domain/margin/model-account.ts'
import { type PlannedSync, planSync } from '../../domain/mirror/mirror-sync-plan.ts'
import { signed } from '../../domain/mirror/mirror-sync-state.ts'
import { replaceOrder, withdrawOrder } from '../../domain/orders/book-request.ts'
import { marketOrder, submitOrder } from '../../domain/orders/book-submit.ts'
import type { BookContext, BookResult, OrderBook } from '../../domain/orders/order-book.ts'
import { type Instant, second } from '../../domain/time.ts'
import { idsOf, type Transaction } from '../../storage/database/sql.ts'
import { quotedInstruments } from '../../storage/market/quotes.ts'
import { driftGraceSeconds } from '../../storage/mirror/sync-cases.ts'
import { loadVariantCases, type VariantCase } from '../../storage/mirror/variant-cases.ts'
import { loadModelAccounts } from '../../storage/orders/model-accounts.ts'
import { causedBy, worked } from '../../storage/orders/order-books.ts'
import { newSignalIds } from '../../storage/orders/signals.ts'
import {
  claimVariants,
  findNextVariantLook,
  insertVariantOrders,
  isVariantDue,
  listDueVariants,
  type NewVariantOrder,
  saveLooks,
} from '../../storage/strategies/variants.ts'
import type { Among } from '../../storage/work/among.ts'
import { bookName } from '../../storage/work/matching.ts'
import { ratesOf, type Step, type WorkContext } from '../context.ts'
import { isolated } from '../isolation.ts'
import { bookContext, type SignalBook } from './booking.ts'
import { loadWholeBooks, saveTimed } from './books.ts'

/** Variants that one transaction looks at: their strategies wait meanwhile. */
const atOnce = 50

/** Variants wait to be looked at. */
export const variantStep: Step = {
  name: 'followParents',
  due: isVariantDue,
  moments: [findNextVariantLook],
  run: (ctx) =>
    isolated(ctx, {
      name: 'looks of a variant',
      work: (variants) => ctx.db.transaction((tx) => followParents(ctx, tx, variants)),
      list: (variants, limit) => idsOf(listDueVariants(ctx.db.read, ctx.clock.now(), variants, limit)),
    }),
}

async function followParents(ctx: WorkContext, tx: Transaction, among: Among): Promise<number> {
  const now = ctx.clock.now()
  const variants = await claimVariants(tx, now, among, atOnce)
  if (variants.length === 0) return 0
  const cases = await loadVariantCases(tx, variants, now)
  const wanted = cases.flatMap((one) => {
    const none = { ending: new Set<string>(), unknown: new Set<string>(), refused: new Map() }
    return actsOf(one, planSync(one.input, { noOpening: false, rejected: one.rejected, ...none }))
  })
  await carryOut(ctx, tx, wanted)
  await saveLooks(
    tx,
    cases.flatMap((one) => nextLook(one, now)),
  )
  return variants.length
}

/** One change of a variant's book; `newId` is taken by those that make an order. */
interface Act {
  readonly one: VariantCase
  readonly symbol: string
  readonly apply: (book: OrderBook, newId: string, context: BookContext) => BookResult
  /** What the new order is; null where none is made. */
  readonly makes: Pick<NewVariantOrder, 'copiedSignalId' | 'filledBefore'> | null
}

/** What a plan means for the books, in the order in which it is carried out: closes before opens. */
function actsOf(one: VariantCase, { actions }: PlannedSync): Act[] {
  const orderOf = (id: string) => one.orders.get(id)!
  const changed = (id: string, leaves: Decimal, terms: Terms): Act => {
    const row = orderOf(id)
    const timeInForce = one.signals.get(row.sourceId)?.timeInForce ?? row.timeInForce
    return {
      apply: (book, newId, context) => {
        const quantity = (book.orders.get(id)?.filledQuantity ?? zero).plus(leaves)
        return replaceOrder(book, id, { newId, quantity, timeInForce, ...terms }, context)
      },
      makes: { copiedSignalId: row.sourceId, filledBefore: row.signalFilledBefore },
      one,
      symbol: symbolOf(one, row.instrumentId),
    }
  }
  const corrected = (positionEffect: 'O' | 'C', symbol: string, side: Side, quantity: Decimal): Act => ({
    apply: (book, id, context) =>
      submitOrder(book, marketOrder({ id, side, quantity, positionEffect }), context),
    makes: { copiedSignalId: null, filledBefore: '0' },
    one,
    symbol,
  })
  return [
    ...actions.cancel.map(
      (id): Act => ({
        apply: (book, _, context) => withdrawOrder(book, id, 'no longer wanted', context),
        one,
        symbol: symbolOf(one, orderOf(id).instrumentId),
        makes: null,
      }),
    ),
    ...actions.toMarket.map(({ clientOrderId, quantity }) =>
      changed(clientOrderId, quantity, { type: '1', limit: null, stop: null }),
    ),
    ...[...actions.replace, ...retimed(one, actions)].map(({ clientOrderId, quantity, ...terms }) =>
      changed(clientOrderId, quantity, terms),
    ),
    ...actions.place.filter((placement) => fits(one, placement)).map((placement) => placed(one, placement)),
    ...actions.close.map(({ symbol, side, quantity }) => corrected('C', symbol, side, quantity)),
    ...actions.open.map(({ symbol, side, quantity }) => corrected('O', symbol, side, quantity)),
  ]
}

/** Copies that differ from their signals in the time in force alone, of which the plan knows nothing. */
function retimed({ input, orders, signals }: VariantCase, actions: PlannedSync['actions']) {
  const { cancel, toMarket, replace } = actions
  const moved = new Set([...cancel, ...[...toMarket, ...replace].map(({ clientOrderId }) => clientOrderId)])
  return input.orders.flatMap(({ clientOrderId, signalId, type, limit, stop, leaves: quantity }) => {
    const theirs = signals.get(Number(signalId))?.timeInForce
    const isBehind = theirs !== undefined && theirs !== orders.get(clientOrderId)?.timeInForce
    const isLeft = isBehind && quantity.greaterThan(0) && !moved.has(clientOrderId)
    return isLeft ? [{ clientOrderId, type, quantity, limit, stop }] : []
  })
}

interface Terms {
  readonly type: OrdType
  readonly limit: Decimal | null
  readonly stop: Decimal | null
}

const symbolOf = ({ instruments }: VariantCase, instrumentId: number): string =>
  [...instruments.values()].find(({ id }) => id === instrumentId)?.symbol ?? ''

type Placement = PlannedSync['actions']['place'][number]

/** Nothing is opened on the other side of what is still held: its close comes first. */
const fits = ({ input }: VariantCase, { signal }: Placement): boolean =>
  signal.positionEffect === 'C' ||
  sign(input.accountPositions.get(signal.symbol) ?? zero) * sign(signed(dec(1), signal.side)) >= 0

/**
 * The variant's group of the exits that this one is among at the parent: what its other copies are in, or a new one.
 * A group of two is followed as one thing, so whoever follows the variant has both its exits.
 */
function groupOf({ variant, orders, signals }: VariantCase, { ocaGroup }: Placement['signal']) {
  if (ocaGroup === null) return null
  const member = [...orders.values()].find(
    (row) => row.ocaGroupId !== null && `${signals.get(row.sourceId)?.ocaGroupId}` === ocaGroup,
  )
  return member ? `${member.ocaGroupId}` : `exits of ${variant.strategyId} as ${ocaGroup}`
}

/** A copy as the signal is: its type and prices, its time in force, and its group. */
function placed(one: VariantCase, { signal, quantity }: Placement): Act {
  const { symbol, side, positionEffect, type, limit, stop, filled } = signal
  const copiedSignalId = Number(signal.signalId)
  const timeInForce = one.signals.get(copiedSignalId)?.timeInForce ?? '1'
  const ocaGroup = groupOf(one, signal)
  return {
    apply: (book, id, context) => {
      const plain = marketOrder({ id, side, quantity, positionEffect })
      return submitOrder(book, { ...plain, type, limit, stop, timeInForce, ocaGroup }, context)
    },
    makes: { copiedSignalId, filledBefore: filled.toFixed() },
    one,
    symbol,
  }
}

/** Lets the acts of each book follow one another, and writes what they made. */
async function carryOut(ctx: WorkContext, tx: Transaction, acts: readonly Act[]): Promise<void> {
  if (acts.length === 0) return
  const now = ctx.clock.now()
  const keyed = acts.map((act) => ({
    strategyId: act.one.variant.strategyId,
    instrumentId: act.one.instruments.get(act.symbol)?.id ?? 0,
    ...act,
  }))
  const keys = oneOfEach(keyed, bookName)
  const instruments = await quotedInstruments(tx, [...new Set(keys.map((key) => key.instrumentId))])
  const loaded = await loadWholeBooks(ctx, tx, keys, instruments)
  const books = new Map<string, SignalBook>(loaded.map((book) => [bookName(book), book]))
  const accounts = await loadModelAccounts(tx, keys, ratesOf(ctx))
  const ids = await newSignalIds(tx, acts.length)
  const made: NewVariantOrder[] = []
  for (const [place, act] of keyed.entries()) {
    const book = books.get(bookName(act))
    if (!book) continue
    const id = ids[place] as number
    const rejection = openingRejection(accounts.get(act.strategyId), act.instrumentId, now)
    const result = act.apply(book.book, `${id}`, bookContext(now, rejection))
    books.set(bookName(act), worked(book, result, now, causedBy({ parent: act.one.variant.parentId })))
    if (act.makes && result.book.orders.has(`${id}`))
      made.push({ signalId: id, variantId: act.strategyId, ...act.makes })
  }
  await saveTimed(ctx, tx, [...books.values()])
  await insertVariantOrders(tx, made)
}

/** A copy that its signal has left behind may trade on by itself for a while. */
function nextLook({ variant: { strategyId }, orders }: VariantCase, now: Instant) {
  const ends = [...orders.values()].flatMap(({ status, signalStatus, signalEndedAt }) =>
    isLive(status) && signalStatus === '2' && signalEndedAt !== null
      ? [signalEndedAt + driftGraceSeconds * second]
      : [],
  )
  const at = Math.min(...ends.filter((end) => end > now))
  return Number.isFinite(at) ? [{ strategyId, at }] : []
}
