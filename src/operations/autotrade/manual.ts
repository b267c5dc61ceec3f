/** What the holder of an account does to its orders himself: a new closing order, a cancel, another price. */
import type { ParamsOf } from '../../contract/index.ts'
import { type Decimal, dec, max, zero } from '../../domain/decimal.ts'
import { hasExpired } from '../../domain/market/expiration.ts'
import {
  type ClientOrderKey,
  clientOrderId,
  parseClientOrderId,
} from '../../domain/orders/client-order-id.ts'
import {
  cancelOf,
  closableQuantity,
  type OwnOrderFacts,
  replaceOf,
  setupMeant,
} from '../../domain/orders/manual-order.ts'
import { offTick } from '../../domain/orders/placing.ts'
import { type AccountRow, lockAccount } from '../../storage/accounts/accounts.ts'
import { findTickedInstrument } from '../../storage/market/instruments.ts'
import {
  cancelOrders,
  chainStart,
  insertAccountOrders,
  type NewAccountOrder,
} from '../../storage/mirror/account-orders.ts'
import {
  accountOfSetup,
  followingAccounts,
  lockHoldings,
  lockOwnOrder,
  lockOwnStrategy,
  nextManualId,
  type OwnOrder,
  type SetupHolding,
  withReplacements,
} from '../../storage/mirror/manual-orders.ts'
import { saveSuccessions, successionOf } from '../../storage/mirror/successions.ts'
import { markSetups } from '../../storage/mirror/sync-due.ts'
import { wakeWorkers } from '../../storage/orders/signals.ts'
import { type Context, isRefused, type Refused, refuse } from '../context.ts'
import type { Handler } from '../handler.ts'
import { namedInstrument, offTickWords } from '../symbols.ts'
import { type AccountAsked, type Choose, findAccount, isOfOnePerson, preferring } from './find-account.ts'

type OrderInput = ParamsOf<'NewAutotradeOrder'>['Order']

/** The account, locked, if orders may go out from it; before it the strategy of the order that is meant, if one is. */
async function lockTrading(
  ctx: Context,
  wanted: AccountAsked,
  choose: Choose,
  key?: ClientOrderKey,
): Promise<AccountRow | Refused> {
  const found = await findAccount(ctx, wanted, choose)
  if (isRefused(found)) return found
  if (key) await lockOwnStrategy(ctx.sql, found.id, key)
  await lockAccount(ctx.sql, found.id)
  // The choice is made once: what is locked is what is read again.
  const account = await findAccount(ctx, { ...wanted, BrokerId: found.brokerId })
  if (isRefused(account)) return account
  if (account.isAutotradeDisabled)
    return refuse('StateConflict', 'Account', 'Autotrade is disabled in the account')
  if (!account.isBrokerEnabled)
    return refuse('StateConflict', 'Account', 'The broker of the account is disabled')
  return account
}

/** An order names its setup, and with it the account that it works in. */
const workingIn =
  (ctx: Context, key: ClientOrderKey | undefined): Choose =>
  async (accounts) => {
    const accountId = key && (await accountOfSetup(ctx.sql, key.setupId))
    return preferring(accounts, ({ id }) => id === accountId)
  }

/** What is to be closed is held in the account that is meant. */
const holding =
  (ctx: Context, order: OrderInput): Choose =>
  async (accounts) => {
    if (!isOfOnePerson(accounts)) return accounts
    const named = namedInstrument(order, ctx.now)
    const instrument = named && (await findTickedInstrument(ctx.sql, named))
    // No symbol can be closed anywhere: it is refused for itself.
    if (!instrument) return accounts.slice(0, 1)
    const wanted = { instrumentId: instrument.id, strategyId: order.StrategyId }
    const ids = accounts.map(({ id }) => id)
    const following = new Map(
      (await followingAccounts(ctx.sql, ids, wanted)).map(({ id, isHolding }) => [id, isHolding]),
    )
    const holders = accounts.filter(({ id }) => following.get(id))
    if (holders.length > 0) return holders
    // What nobody holds can be closed nowhere, either: refused for that, and where the strategy is followed.
    return preferring(accounts, ({ id }) => following.has(id)).slice(0, 1)
  }

/** A holder's own order to close what a followed strategy holds in his account. */
export const newAutotradeOrder: Handler<'NewAutotradeOrder'> = async (ctx, params) => {
  const { Order: order } = params
  const account = await lockTrading(ctx, params, holding(ctx, order))
  if (isRefused(account)) return account
  const named = namedInstrument(order, ctx.now)
  const instrument = named && (await findTickedInstrument(ctx.sql, named))
  if (!instrument || hasExpired(instrument, ctx.now)) return refuse('InvalidSymbol', 'Symbol')
  const prices = pricesOf(order)
  if (offTick(prices, dec(instrument.tick)))
    return refuse(
      'InvalidParameter',
      order.OrderType === '2' ? 'Order.Limit' : 'Order.Stop',
      offTickWords(instrument.tick),
    )
  const kind = { instrumentId: instrument.id, side: order.Side, ordType: order.OrderType }
  const setups = (await lockHoldings(ctx.sql, account.id, kind)).map((setup) => ({
    ...setup,
    quantity: dec(setup.quantity),
  }))
  const setup = setupMeant(setups, order.StrategyId)
  if (setup === 'several')
    return refuse('BadCombination', 'Order.StrategyId', 'Several strategies hold the symbol in the account')
  if (setup === 'none') return notFollowed(order)
  const sourceId = await nextManualId(ctx.sql)
  const terms = { instrumentId: instrument.id, sourceId, ...prices }
  await insertAccountOrders(ctx.sql, [closingOrder(ctx, account, setup, order, terms)])
  await wakeWorkers(ctx.sql)
  return { results: [{ SignalId: sourceId }] }
}

const notFollowed = (order: OrderInput): Refused =>
  order.StrategyId === undefined
    ? refuse('OrderRejected', 'Order.OrderQuantity', 'No strategy holds the symbol in the account')
    : refuse('OrderRejected', 'Order.StrategyId', 'The account does not autotrade the strategy')

const pricesOf = ({ OrderType, Limit, Stop }: OrderInput) => ({
  limitPx: OrderType === '2' && Limit !== undefined ? dec(Limit) : undefined,
  stopPx: OrderType === '3' && Stop !== undefined ? dec(Stop) : undefined,
})

interface ManualTerms extends ReturnType<typeof pricesOf> {
  readonly instrumentId: number
  readonly sourceId: number
}

/** The order, cut to what is held; where there is nothing to close it is written as rejected. */
function closingOrder(
  ctx: Context,
  account: AccountRow,
  setup: Omit<SetupHolding, 'quantity'> & { readonly quantity: Decimal },
  order: OrderInput,
  { limitPx, stopPx, instrumentId, sourceId }: ManualTerms,
): NewAccountOrder {
  const wanted = dec(order.OrderQuantity)
  const quantity = closableQuantity(order.Side, wanted, setup.quantity, dec(setup.promised))
  const isRejected = typeof quantity === 'string'
  return {
    accountId: account.id,
    brokerId: account.brokerId,
    setupId: setup.setupId,
    strategyId: setup.strategyId,
    source: 'M',
    sourceId,
    revision: 0,
    instrumentId,
    signalType: 4,
    side: order.Side,
    ordType: order.OrderType,
    timeInForce: order.TIF,
    positionEffect: 'C',
    orderQty: isRejected ? wanted : quantity,
    limitPx: limitPx?.toFixed() ?? null,
    stopPx: stopPx?.toFixed() ?? null,
    status: isRejected ? '8' : 'A',
    postedAt: ctx.now,
    endedAt: isRejected ? ctx.now : null,
    chaseAt: null,
    pendingAction: isRejected ? null : 'new',
    info: null,
    ...(isRejected && { rejectText: quantity }),
    reason: null,
    strategyQty: dec(setup.strategyQty),
    scalingPercentage: setup.scalingPercentage,
    limitValue: null,
    heldQty: setup.quantity,
    referencePx: null,
    setupFence: setup.fence,
    ...chainStart,
  }
}

/** What an id names. A broker may fold the case of an id; who asks for an order has the id as it is shown. */
function keyOf({ environment }: Context, orderId: string): ClientOrderKey | undefined {
  const key = parseClientOrderId(orderId)
  const isOurs = key?.environment === environment && clientOrderId(key) === orderId
  return isOurs ? key : undefined
}

/** The account's order of this key, locked. */
const findOwnOrder = async (
  ctx: Context,
  accountId: number,
  key: ClientOrderKey | undefined,
): Promise<OwnOrder | Refused> =>
  (key && (await lockOwnOrder(ctx.sql, accountId, key))) ?? refuse('NotFound', 'OrderId')

const factsOf = (order: OwnOrder): OwnOrderFacts => ({
  isBeingReplaced: order.replacements.length > 0,
  ...order,
})

const untouchable = (): Refused =>
  refuse('CancelRejected', 'OrderId', 'An automatic stop loss can be neither canceled nor replaced')

/** Cancels an order of the account with what replaces it; once more is no error while it lives. */
export const cancelAutotradeOrder: Handler<'CancelAutotradeOrder'> = async (ctx, params) => {
  const key = keyOf(ctx, params.OrderId)
  const account = await findAccount(ctx, params, workingIn(ctx, key))
  if (isRefused(account)) return account
  if (key) await lockOwnStrategy(ctx.sql, account.id, key)
  await lockAccount(ctx.sql, account.id)
  const order = await findOwnOrder(ctx, account.id, key)
  if (isRefused(order)) return order
  const verdict = cancelOf(factsOf(order))
  if (verdict === 'stopLoss') return untouchable()
  if (verdict === 'ended') return refuse('CancelRejected', 'OrderId')
  if (verdict === 'cancel') {
    await cancelOrders(ctx.sql, withReplacements(order), { at: ctx.now, info: 'canceled by the holder' })
    // No broker reports the end of what it never saw.
    await markSetups(ctx.sql, [order.setupId], ctx.now)
    await wakeWorkers(ctx.sql)
  }
  return { results: [{ SignalId: order.number }] }
}

/** Gives a working order of the account another price, by an order that succeeds it. */
export const replaceAutotradeOrder: Handler<'ReplaceAutotradeOrder'> = async (ctx, params) => {
  const key = keyOf(ctx, params.OrderId)
  const account = await lockTrading(ctx, params, workingIn(ctx, key), key)
  if (isRefused(account)) return account
  const order = await findOwnOrder(ctx, account.id, key)
  if (isRefused(order)) return order
  const verdict = replaceOf(factsOf(order))
  if (verdict === 'stopLoss') return untouchable()
  if (verdict === 'ended') return refuse('CancelRejected', 'OrderId')
  if (verdict !== 'replace') return refuse('ReplaceRejected', 'OrderId', wordsOf[verdict])
  const price = dec(params.Price)
  if (offTick({ limitPx: price }, dec(order.tick)))
    return refuse('InvalidParameter', 'Price', offTickWords(order.tick))
  await saveSuccessions(ctx.sql, [repriced(ctx, order, price)], ctx.now)
  await wakeWorkers(ctx.sql)
  return { results: [{ SignalId: order.number }] }
}

const wordsOf = {
  notAnExit: 'Only limit and stop orders that close a position can be replaced',
  busy: 'The order is being canceled or replaced',
}

/** The order at its new price; what a strategy asked for is from now on the holder's. */
const repriced = (ctx: Context, order: OwnOrder, price: Decimal) =>
  successionOf(order, {
    signalType: order.source === 'S' ? 5 : order.signalType,
    sourceId: order.sourceId,
    revision: order.lastRevision + 1,
    ordType: order.ordType,
    timeInForce: order.timeInForce,
    limitPx: order.ordType === '2' ? price.toFixed() : null,
    stopPx: order.ordType === '3' ? price.toFixed() : null,
    leaves: max(zero, dec(order.orderQty).minus(order.cumQty)),
    at: ctx.now,
    // Left behind by its signal, it has what is left of its grace.
    chaseAt: order.chaseAt,
    info: 'price changed by the holder',
    reason: null,
    strategyQty: dec(order.strategyQty),
    scalingPercentage: order.scalingPercentage,
    limitValue: null,
    heldQty: dec(order.held),
    referencePx: order.referencePx,
  })
