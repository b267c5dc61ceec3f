/** At which rate an account in another currency books what is told of a day that is past. */
import { beforeAll, expect, test } from 'vitest'
import { resultsOf } from '../support/http.ts'
import { buildTown } from './support/town.ts'

const town = await buildTown()
const { db } = town.platform
const { personId, key } = town.people.holder
const { owner } = town.people

const passTo = (now: string) => town.door('/clock', { now })
const quote = (symbol: string, price: number) => town.door('/quotes', [{ symbol, bid: price, ask: price }])

/** An account in euros that has bought shares of its own kind at 100 dollars, nothing of which is put right. */
async function hold(symbol: string, OrderQuantity: number) {
  const Account = `E-${symbol}`
  await town.door('/accounts', [{ account: Account, personId, cash: 100_000, currency: 'EUR' }])
  const added = { StrategyName: Account, StartingCapital: 1_000_000 }
  const [made] = resultsOf<{ StrategyId: number }>(await town.ask('AddStrategy', added, owner))
  const StrategyId = made?.StrategyId ?? 0
  await town.ask('StartAutotrade', { Account, PersonId: personId, StrategyId, StocksEnabled: true }, { key })
  await town.ask('SetAutotradeSettings', { Account, PersonId: personId, IsAutoSyncEnabled: false }, { key })
  await quote(symbol, 100)
  const PlatformSymbol = { FullSymbol: symbol, SymbolType: 'stock' }
  const Order = { StrategyId, Side: '1', OrderQuantity, OrderType: '1', TIF: '1', PlatformSymbol }
  await town.ask('NewStrategyOrder', { Order }, owner)
  const cash = async () => {
    const row = await db.read.one<{ cash: string }>`select cash from account where account = ${Account}`
    return Number(row.cash)
  }
  const { execId } = await db.read.one<{ execId: string }>`
    select e.exec_id as "execId" from execution e join account a on a.id = e.account_id
    where a.account = ${Account}`
  return { cash, execId, strategyId: StrategyId }
}

beforeAll(async () => {
  await town.door('/instruments', [
    ...['PAYS', 'CUTS', 'GONE', 'TOLD'].map((symbol) => ({ symbol, securityType: 'CS' })),
    { symbol: 'EURUSD', securityType: 'FOR' },
    { symbol: 'OVER', securityType: 'CS', currency: 'EUR' },
  ])
})

test('a dividend and a fraction that are entered late are paid at the rate of their opening', async () => {
  await quote('EURUSD', 1.25)
  const paid = await hold('PAYS', 100)
  const cut = await hold('CUTS', 11)
  expect([await paid.cash(), await cut.cash()]).toEqual([92_000, 99_120])
  await passTo('2024-03-13T14:00:00Z')
  await quote('EURUSD', 1)
  await passTo('2024-03-14T14:00:00Z')
  await town.door('/corporate-actions', [
    { kind: 'dividend', symbol: 'PAYS', date: '2024-03-13', amount: 5 },
    { kind: 'split', symbol: 'CUTS', date: '2024-03-13', new: 1, old: 2 },
  ])
  await passTo('2024-03-14T14:00:01Z')
  expect(await paid.cash()).toBe(92_400)
  // Half a share at 200 dollars.
  expect(await cut.cash()).toBe(99_200)
})

test('an execution that is told late, or taken back over a dividend, is of the rates of its own days', async () => {
  await quote('EURUSD', 1.25)
  const gone = await hold('GONE', 100)
  const told = await hold('TOLD', 100)
  await town.door('/corporate-actions', [{ kind: 'dividend', symbol: 'GONE', date: '2024-03-15', amount: 5 }])
  await passTo('2024-03-15T14:00:00Z')
  expect([await gone.cash(), await told.cash()]).toEqual([92_400, 92_000])
  await quote('EURUSD', 1)
  await town.door('/broker', { bust: gone.execId })
  expect(await gone.cash()).toBe(100_000)
  await db.write.run`
    insert into broker_report (broker_id, report_key, account_id, client_order_id, kind, symbol, side, quantity, px,
      occurred_at)
    select r.broker_id, 'late', r.account_id, r.client_order_id, 'fill', r.symbol, r.side, 10, r.px, r.occurred_at
    from broker_report r where r.report_key = ${told.execId}`
  await passTo('2024-03-15T14:00:01Z')
  expect(await told.cash()).toBe(91_200)
})

test('a fraction that a strategy is paid late is of the rate of the opening, too', async () => {
  await quote('EURUSD', 1.25)
  const { strategyId } = await hold('OVER', 11)
  const paid = () =>
    db.read.rows`
      select f.quantity::float8, f.px::float8, f.fx::float8 from fill f join instrument i on i.id = f.instrument_id
      where f.strategy_id = ${strategyId} and i.symbol = 'OVER' order by f.id`
  await passTo('2024-03-18T14:00:00Z')
  await quote('EURUSD', 1)
  await passTo('2024-03-19T14:00:00Z')
  await town.door('/corporate-actions', [
    { kind: 'split', symbol: 'OVER', date: '2024-03-18', new: 1, old: 2 },
  ])
  await passTo('2024-03-19T14:00:01Z')
  expect(await paid()).toEqual([
    { quantity: 11, px: 100, fx: 1.25 },
    { quantity: 0.5, px: 200, fx: 1.25 },
  ])
  // A quote of the same morning is the last one before the opening, and nearer than the mark of the day before.
  await passTo('2024-03-20T12:00:00Z')
  await quote('EURUSD', 1.6)
  await town.door('/corporate-actions', [
    { kind: 'split', symbol: 'OVER', date: '2024-03-20', new: 1, old: 2 },
  ])
  await passTo('2024-03-20T13:30:00Z')
  expect((await paid())[2]).toEqual({ quantity: 0.5, px: 400, fx: 1.6 })
})
