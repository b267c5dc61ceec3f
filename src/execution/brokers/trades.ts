/** What the adapters can trade, told to those who plan orders: what a broker would refuse is never made an order. */
import { isTradesUnknown, saveTrades } from '../../storage/brokers/traded.ts'
import type { Step } from '../context.ts'
import type { Broker } from './broker.ts'

/** Brokers that are new, or whose adapter has changed, wait for it. */
export function tradesStep(brokers: Readonly<Record<string, Broker>>): Step {
  const all = Object.entries(brokers).map(([adapter, { trades = null }]) => ({ adapter, trades }))
  return {
    name: 'note what brokers trade',
    due: () => isTradesUnknown(all),
    run: (ctx) => saveTrades(ctx.db.write, all),
  }
}
