/** What people do in a life of `crossed-lives.test.ts`, most of it over the interface. */
import {
  confirmOrder,
  declineOrder,
  listWaitingOrders,
} from '../../src/storage/mirror/order-confirmations.ts'
import { changeAccount, changeSetup } from '../../src/storage/operating/administration.ts'
import type { Answer } from '../support/http.ts'
import {
  type Account,
  type Act,
  type Crossed,
  type Dice,
  type Market,
  markets,
  once,
  yes,
} from './crossed-world.ts'

const symbolOf = ({ symbol, type }: Market) => ({ FullSymbol: symbol, SymbolType: type })
const round = (price: number, { type }: Market): number =>
  type === 'future' ? Math.max(1, Math.round(price)) : Math.max(0.01, Math.round(price * 100) / 100)

const remember = (life: Crossed, { json }: Answer): void => {
  type Ids = { SignalId?: number; ProfitTargetSignalId?: number; StopLossSignalId?: number }
  const { Results = [] } = (json ?? {}) as { Results?: Ids[] }
  for (const ids of Results)
    for (const id of [ids?.SignalId, ids?.ProfitTargetSignalId, ids?.StopLossSignalId])
      if (typeof id === 'number') life.signals.push(id)
}

const heldBy = async (life: Crossed, strategyId: number, symbol: string): Promise<number> =>
  (
    await life.db.read.one<{ held: number }>`
      select coalesce((select p.quantity from position p join instrument i on i.id = p.instrument_id
        where p.strategy_id = ${strategyId}::bigint and i.symbol = ${symbol}), 0)::float8 as held`
  ).held

/** A price beside the market by up to three steps, of either sign. */
const beside = (life: Crossed, market: Market, dice: Dice): number => {
  const price = life.prices.get(market.symbol) ?? 1
  const step = market.type === 'option' ? 0.3 : 1
  return round(price + step * dice([-3, -2, -1, 0, 1, 2, 3]), market)
}

function termsOf(life: Crossed, market: Market, dice: Dice): Record<string, unknown> {
  const OrderType = dice(['1', '1', '2', '2', '3'])
  const price = beside(life, market, dice)
  return {
    OrderType,
    ...(OrderType === '2' && { Limit: price }),
    ...(OrderType === '3' && { Stop: price }),
    TIF: dice(['0', '1', '1']),
  }
}

const traders = (life: Crossed): readonly number[] => life.strategies.slice(0, 2)

const order: Act = async (life, dice) => {
  const StrategyId = dice(traders(life))
  const market = dice(markets)
  const terms = termsOf(life, market, dice)
  const Side = dice(['1', '1', '2'])
  const around = Number(terms.Limit ?? terms.Stop ?? life.prices.get(market.symbol))
  const step = market.type === 'option' ? 0.4 : 2
  const away = (Side === '1' ? step : -step) * dice([1, 2])
  const hasExits = dice([true, false, false])
  const parent = dice(life.signals.length > 0 ? life.signals : [0])
  const Order = {
    StrategyId,
    Side,
    OrderQuantity: dice([1, 2, 3, 4, 5, 6, 7, 9, 10, 13]) * (market.type === 'stock' ? dice([1, 3, 10]) : 1),
    PlatformSymbol: symbolOf(market),
    ...terms,
    ...(hasExits && dice([true, true, false]) && { ProfitTarget: round(around + away, market) }),
    ...(hasExits && { StopLoss: round(around - away, market) }),
    ...(hasExits && { DoNotCreateOCAGroup: dice(once(4)) }),
    ...(dice(once(8)) && { ParentSignalId: parent }),
    ...(dice(once(8)) && {
      ParkedUntilDate: new Date(life.clock.time + dice([5_000, 90_000_000])).toISOString(),
    }),
    ...(dice(once(8)) && { DoNotSyncToOpen: true }),
  }
  remember(life, await life.ask('owner', 'NewStrategyOrder', { Order }))
}

/** Closes, in whole or in part, at market, at a limit or at a stop. */
const exit: Act = async (life, dice) => {
  const StrategyId = dice(traders(life))
  const market = dice(markets)
  const held = await heldBy(life, StrategyId, market.symbol)
  if (held === 0) return
  const OrderQuantity = dice([Math.abs(held), Math.ceil(Math.abs(held) / 2)])
  const Side = held > 0 ? '2' : '1'
  const terms = termsOf(life, market, dice)
  const Order = {
    StrategyId,
    Side,
    OrderQuantity,
    PlatformSymbol: symbolOf(market),
    OpenClose: 'C',
    ...terms,
  }
  remember(life, await life.ask('owner', 'NewStrategyOrder', { Order }))
}

interface Resting {
  readonly id: number
  readonly strategyId: number
  readonly side: string
  readonly ordType: string
  readonly quantity: number
  readonly symbol: string
}

const resting = (life: Crossed): Promise<Resting[]> =>
  life.db.read.rows<Resting>`
    select s.id, s.strategy_id as "strategyId", s.side, s.ord_type as "ordType", s.order_qty::float8 as quantity,
      i.symbol
    from signal s join instrument i on i.id = s.instrument_id
    where s.status in ('A', '0', '1') and s.strategy_id = any(${traders(life)}::bigint[]) order by s.id`

const replace: Act = async (life, dice) => {
  const live = await resting(life)
  if (live.length === 0) return
  const { id, strategyId, side, ordType, quantity, symbol } = dice(live)
  const market = markets.find((one) => one.symbol === symbol)
  if (!market) return
  const price = beside(life, market, dice)
  const Order = {
    StrategyId: strategyId,
    Side: side,
    OrderType: ordType,
    ...(ordType === '2' && { Limit: price }),
    ...(ordType === '3' && { Stop: price }),
    TIF: dice(['0', '1', '1']),
    OrderQuantity: dice([quantity, quantity, quantity + 2, Math.max(1, quantity - 2)]),
    PlatformSymbol: symbolOf(market),
    CancelReplaceSignalId: id,
  }
  remember(life, await life.ask('owner', 'ReplaceStrategyOrder', { Order }))
}

const cancel: Act = async (life, dice) => {
  const live = await resting(life)
  if (live.length === 0) return
  const { id: SignalId, strategyId: StrategyId } = dice(live)
  await life.ask('owner', 'CancelStrategyOrder', { StrategyId, SignalId })
}

const desired: Act = async (life, dice) => {
  const StrategyId = dice(traders(life))
  const isNone = dice(once(3))
  const wanted = markets.filter(() => dice(yes))
  const Positions = isNone
    ? []
    : wanted.map((market) => ({
        PlatformSymbol: symbolOf(market),
        Quantity: dice([-7, -4, -1, 2, 3, 5, 8, 12]),
      }))
  remember(life, await life.ask('owner', 'SetDesiredPositions', { StrategyId, Positions }))
}

/** What a setup chooses, anew each time. */
export async function follow(life: Crossed, account: Account, StrategyId: number, dice: Dice): Promise<void> {
  const isOn = () => dice([true, true, true, true, false])
  await life.ask('holder', 'StartAutotrade', {
    Account: account.name,
    PersonId: life.personIds.holder,
    BrokerId: life.brokerId,
    StrategyId,
    ScalingPercentage: dice([33, 50, 100, 150, 300]),
    StocksEnabled: isOn(),
    FuturesEnabled: isOn(),
    OptionsEnabled: isOn(),
    ShortOptionsEnabled: dice(yes),
    ...(dice(once(4)) && { MaxFutures: dice([0, 1, 4, 6]) }),
    ...(dice(once(4)) && { MaxStocksDollars: dice([0, 500, 1_500]) }),
    ...(dice(once(4)) && { AutoStopLoss: dice([20, 150, 500]) }),
  })
}

const settings: Act = (life, dice) => {
  const account = dice(life.accounts)
  return follow(life, account, dice(account.strategies), dice)
}

const stop: Act = (life, dice) => {
  const account = dice(life.accounts)
  return life.ask('holder', 'StopAutotrade', {
    Account: account.name,
    PersonId: life.personIds.holder,
    StrategyId: dice(account.strategies),
    LeavePositionsOpen: dice([true, false, false]),
  })
}

const own = (life: Crossed, { name }: Account) => ({ Account: name, PersonId: life.personIds.holder })

const autoSync: Act = (life, dice) =>
  life.ask('holder', 'SetAutotradeSettings', {
    ...own(life, dice(life.accounts)),
    IsAutoSyncEnabled: dice([true, true, false]),
    ...(dice(once(3)) && { IsAutotradeEnabled: dice([true, true, false]) }),
  })

const syncNow: Act = (life, dice) => life.ask('holder', 'SyncPositionsToOpen', own(life, dice(life.accounts)))

/** Members of a setup that an operator sets. */
const operated: Act = async (life, dice) => {
  const account = dice(life.accounts)
  const { brokerId, db, clock } = life
  const wish = { brokerId, account: account.name }
  const which = dice([0, 1, 2, 3])
  const strategyId = dice(account.strategies)
  if (which === 0)
    await changeSetup(db.write, { ...wish, strategyId, closingOrdersOnly: dice(yes) }, clock.time)
  if (which === 1)
    await changeSetup(db.write, { ...wish, strategyId, isConfirmationNeeded: dice(yes) }, clock.time)
  if (which === 2) await changeSetup(db.write, { ...wish, strategyId, minFutures: dice([0, 2]) }, clock.time)
  if (which === 3) {
    const none = { introducingBroker: undefined, introducingBrokerId: undefined, salesRep: undefined }
    await changeAccount(
      db.write,
      { ...wish, ...none, salesRepId: undefined, ignoresManualOrders: dice(yes) },
      clock.time,
    )
  }
}

/** Which ways a setup may trade; no operation sets it. */
const directions: Act = (life, dice) => {
  const account = dice(life.accounts)
  const [long, short] = dice([
    [true, true],
    [true, false],
    [false, true],
  ])
  return life.db.write.run`
    update setup set stocks_long = ${long}::boolean and stocks_enabled, stocks_short = ${short}::boolean and stocks_enabled,
      futures_long = ${long}::boolean and futures_enabled, futures_short = ${short}::boolean and futures_enabled,
      changed_at = ${new Date(life.clock.time).toISOString()}::timestamptz
    where account_id = ${account.id}::bigint and stopped_at is null`
}

const byHand: Act = async (life, dice) => {
  const account = dice(life.accounts)
  const held = await life.db.read.rows<{ symbol: string; quantity: number; strategyId: number }>`
    select i.symbol, p.quantity::float8 as quantity, p.strategy_id as "strategyId"
    from account_position p join instrument i on i.id = p.instrument_id
    where p.account_id = ${account.id}::bigint and p.quantity <> 0 and p.setup_id is not null order by 1, 3`
  if (held.length === 0) return
  const { symbol, quantity, strategyId } = dice(held)
  const market = markets.find((one) => one.symbol === symbol)
  if (!market) return
  const OrderType = dice(['2', '3'])
  const price = beside(life, market, dice)
  const Order = {
    ...(dice([true, true, false]) && { StrategyId: strategyId }),
    OrderType,
    ...(OrderType === '2' ? { Limit: price } : { Stop: price }),
    Side: quantity > 0 ? '2' : '1',
    OrderQuantity: dice([Math.abs(quantity), Math.ceil(Math.abs(quantity) / 2)]),
    TIF: dice(['0', '1']),
    PlatformSymbol: symbolOf(market),
  }
  await life.ask('holder', 'NewAutotradeOrder', { ...own(life, account), Order })
}

/** The holder cancels an order of the account, or gives it another price. */
const touch: Act = async (life, dice) => {
  const account = dice(life.accounts)
  const answer = await life.ask('holder', 'GetAutotradeActiveOrders', own(life, account))
  type Row = { OrderId: string; PlatformSymbol?: { FullSymbol: string } }
  const { Results = [] } = (answer.json ?? {}) as { Results?: Row[] }
  if (Results.length === 0) return
  const { OrderId, PlatformSymbol } = dice(Results)
  const market = markets.find((one) => one.symbol === PlatformSymbol?.FullSymbol) ?? markets[0]
  if (dice(yes)) await life.ask('holder', 'CancelAutotradeOrder', { ...own(life, account), OrderId })
  else
    await life.ask('holder', 'ReplaceAutotradeOrder', {
      ...own(life, account),
      OrderId,
      Price: beside(life, market, dice),
    })
}

const confirm: Act = async (life, dice) => {
  for (const { id } of await listWaitingOrders(life.db.read, life.clock.time)) {
    if (dice([true, true, false])) await confirmOrder(life.db.write, id, life.clock.time)
    else if (dice(yes)) await life.db.transaction((tx) => declineOrder(tx, id, life.clock.time))
  }
}

export const peopleActs: Record<string, Act> = {
  order,
  exit,
  replace,
  cancel,
  desired,
  settings,
  stop,
  autoSync,
  syncNow,
  operated,
  directions,
  byHand,
  touch,
  confirm,
}
