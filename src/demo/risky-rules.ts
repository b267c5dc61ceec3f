/** Rules that look well until they do not, and how an owner ends one. */
import { dec } from '../domain/decimal.ts'
import { type Day, readDay } from '../domain/time.ts'
import { buyIndex, nothing, order, type Rule, type RuleView, sellIndex, type Wishes } from './rules.ts'

const firstBet = dec(10)

/**
 * The martingale: a small purchase, doubled whenever the price is a tenth below the average paid, all sold at a
 * gain of fifteen percent. It nearly always wins, and holds most when it has lost most.
 */
export const martingale: Rule = (view) => {
  const price = view.price('AAPL')
  if (!price || view.working.length > 0 || isAfterAppleRecord(view)) return nothing
  const entry = view.entry('AAPL')
  const held = view.position('AAPL')
  if (entry === undefined) return order({ symbol: 'AAPL', side: '1', quantity: firstBet })
  if (price.greaterThanOrEqualTo(entry.times('1.15')))
    return order({ symbol: 'AAPL', side: '2', quantity: held })
  const costs = held.times(price).times('1.05')
  if (price.greaterThan(entry.times('0.9')) || costs.greaterThan(view.cash)) return nothing
  return order({ symbol: 'AAPL', side: '1', quantity: held })
}

/** Apple's recorded prices end with this close; later there is nothing to trade against. */
const lastAppleClose = readDay('2012-05-01') ?? 0

const isAfterAppleRecord = ({ day }: RuleView): boolean => day !== undefined && day >= lastAppleClose

/** Buys the index for a quarter of the cash after every fall of two percent, and waits for ten percent of gain. */
export const fallingKnives: Rule = (view) => {
  const [before = 0, last = 0] = view.closes('SPX', 2)
  const price = view.price('SPX')
  if (!price || last === 0 || view.working.length > 0) return nothing
  const entry = view.entry('SPX')
  const held = view.position('SPX')
  if (entry && price.greaterThan(entry.times('1.1'))) return sellIndex(held)
  return last > before * 0.98 ? nothing : buyIndex(view, view.cash.div(4))
}

/** The rule until the day before its owner gives up; then everything is canceled and the index closed. */
export const givingUp =
  (rule: Rule, on: Day): Rule =>
  (view) =>
    view.nextDay < on ? rule(view) : closing(view)

function closing(view: RuleView): Wishes {
  const held = view.position('SPX')
  if (view.working.some(({ ordType }) => ordType === '1')) return nothing
  const cancels = view.working.map(({ signalId }) => signalId)
  return { cancels, orders: held.isZero() ? [] : sellIndex(held).orders }
}
