/**
 * What happens to people who follow with money in several currencies: prices and rates move, contracts and pairs are traded
 * beside stocks, dividends and splits come, and brokers take executions back.
 */
import { type Day, dayLength, type Instant, instantAt, newYork, readDay } from '../../../src/domain/time.ts'
import { call } from '../../support/http.ts'
import type { Traded } from './money-gains.ts'
import { MoneyLife } from './money-life.ts'
import { type Platform, pickOf } from './money-town.ts'

const usual = {
  CS: { price: 100, ticks: 100, quantity: 2 },
  OPT: { price: 5, ticks: 100, quantity: 2 },
  FUT: { price: 5000, ticks: 4, quantity: 2 },
  FOR: { price: 1.1, ticks: 100_000, quantity: 20_000 },
}

export class GainsLife extends MoneyLife {
  constructor(platform: Platform) {
    super(platform)
    Object.assign(this.acts, {
      yen: async (pick: number) => {
        await this.quoteYen(120 + (pick % 400) / 10)
        return `${this.gains.rates.JPY}`
      },
      mark: async (pick: number) => {
        const traded = pickOf(pick, this.gains.traded)
        const { price, ticks } = usual[traded.kind]
        await this.quoteOne(traded, Math.round(price * (0.9 + (pick % 200) / 1000) * ticks) / ticks)
        return `${traded.symbol} ${traded.price}`
      },
      dividend: (pick: number) => this.act('dividend', pick),
      split: (pick: number) => this.act('split', pick),
      bust: (pick: number) => this.bust(pick),
      contract: (pick: number) => this.contract(pick, pickOf(pick, this.gains.traded, 3)),
    })
  }

  /** A dividend or a split of the stock, on one of the next days. */
  private async act(kind: 'dividend' | 'split', pick: number): Promise<string> {
    const next = this.now + dayLength * (1 + (pick % 6))
    const weekend = [1, 0, 0, 0, 0, 0, 2][new Date(next).getUTCDay()] ?? 0
    const date = new Date(next + weekend * dayLength).toISOString().slice(0, 10)
    const at: Instant = instantAt(readDay(date) as Day, 9 * 60 + 30, newYork)
    const { dividends, splits } = this.gains
    const known: readonly { at: Instant }[] = kind === 'split' ? splits : dividends
    if (known.some((one) => one.at === at) || splits.length > 4) return 'nothing'
    const amount = (1 + (pick % 9)) / 4
    const terms = kind === 'split' ? { new: 2, old: 1 } : { amount }
    const body = [{ kind, symbol: 'AAPL', date, ...terms }]
    const { status } = await call(this.platform.url, '/test/corporate-actions', { body })
    if (status === 200 && kind === 'split') splits.push({ at, isPassed: false })
    if (status === 200 && kind === 'dividend') dividends.push({ at, amount })
    return `${date} ${status}`
  }

  /** Nothing of what was left open: it is its holder's. */
  private async bust(pick: number): Promise<string> {
    const { fills, setups } = this.gains
    const gone = new Set(fills.flatMap(({ busts }) => busts ?? []))
    const left = new Set(setups.filter(({ isLeftOpen }) => isLeftOpen).map(({ id }) => id))
    const there = fills.filter(
      ({ busts, execId, setupId }) => busts === null && !gone.has(execId) && !left.has(setupId),
    )
    if (there.length === 0) return 'nothing'
    const { execId, setupId } = pickOf(pick, there)
    await this.door('/broker', { bust: execId })
    return `${execId} of ${setupId}`
  }

  private async contract(pick: number, traded: Traded): Promise<string> {
    const strategy = pickOf(pick, [this.strategies[0], this.strategies[2]])
    if (!strategy?.isAlive) return 'nothing'
    const Side = Math.floor(pick / 2) % 3 === 0 ? '2' : '1'
    const OrderQuantity = (1 + (pick % 3)) * usual[traded.kind].quantity
    const PlatformSymbol = { FullSymbol: traded.symbol, SymbolType: traded.type }
    const terms = { OrderType: '1', TIF: '1', Side, OrderQuantity, PlatformSymbol }
    const body = { Order: { StrategyId: strategy.id, ...terms } }
    const key = this.keys.get(strategy.owner)
    const { status } = await call(this.platform.url, '/gen/Strategies/NewStrategyOrder', { key, body })
    await this.quoteOne(traded, traded.price)
    return `${strategy.id} ${Side} ${OrderQuantity} ${traded.symbol} at ${traded.price}: ${status}`
  }
}
