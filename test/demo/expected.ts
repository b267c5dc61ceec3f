/** What the demo's followers should have traded, worked out from their settings and the strategies' fills alone. */
import type { FollowerView, SignalView } from './books.ts'
import { closeKnownAt, dateOf, rowAfter } from './record.ts'

/** From this day on the account takes no new stock positions. */
export const switchedOff: Record<string, number> = {
  'PAPER-1019 Mean reversion SPX': Date.parse('2015-01-05T00:00:00Z'),
}

/**
 * What AutoSync opened because caps had left the account with less than its strategy's part: no price was known when
 * the signal came (Elena Rossi), or a cap in dollars allowed one more when the price had fallen (Nadia Haddad).
 */
const capped: readonly (Expected & { readonly account: string })[] = [
  { account: 'PAPER-1005', symbol: 'SPX', quantity: 6, ...openAt(Date.parse('2000-01-04T14:30:00Z')) },
  { account: 'PAPER-1014', symbol: 'SPX', quantity: 1, ...openAt(Date.parse('2009-04-02T13:30:00Z')) },
]

/** What AutoSync opened for a follower: what caps had held back, and what was held when the strategy was joined. */
export function openedFor(follower: FollowerView, own: readonly SignalView[]): Expected[] {
  const late = capped.filter(({ account }) => account === follower.account)
  const made = late.map(({ account: _, ...opening }) => opening)
  if (!follower.joins) return made
  const before = own.filter(({ filledAt }) => filledAt !== null && filledAt < follower.startedAt)
  const held: Record<string, number> = {}
  for (const { symbol, filledQty, side } of before)
    held[symbol] = (held[symbol] ?? 0) + (filledQty ?? 0) * side
  const joined = Object.entries(held).map(([symbol, position]) => ({
    symbol,
    quantity: Math.floor((position * follower.percent) / 100),
    ...openAt(follower.startedAt + hour),
  }))
  return [...joined.filter(({ quantity }) => quantity !== 0), ...made]
}

const hour = 3_600_000

/** The open of the index on the day whose session begins then. */
function openAt(at: number): { px: number; at: number } {
  return { px: rowAfter('SPX', dateOf(at - 86_400_000)).open, at }
}

export interface Expected {
  symbol: string
  quantity: number
  px: number
  at: number
}

/** What a follower should have traded, from the strategy's orders and fills in order of time. */
export function expectedOf(follower: FollowerView, own: readonly SignalView[]): Expected[] {
  const { percent, maxDollars, startedAt, stoppedAt } = follower
  const offAt = switchedOff[`${follower.account} ${follower.strategy}`] ?? Number.POSITIVE_INFINITY
  const held: Record<string, number> = {}
  const strategyHeld: Record<string, number> = {}
  const isExcluded: Record<string, boolean> = {}
  const made: Expected[] = []
  const ahead = openedFor(follower, own)
  const correct = (until: number): void => {
    while (ahead[0] && ahead[0].at <= until) {
      const opening = ahead.shift()!
      held[opening.symbol] = (held[opening.symbol] ?? 0) + opening.quantity
      made.push(opening)
    }
  }
  for (const signal of own) {
    const { symbol, side, quantity, postedAt } = signal
    correct(postedAt)
    const P = strategyHeld[symbol] ?? 0
    const A = held[symbol] ?? 0
    const after = P + (signal.filledQty ?? 0) * side
    strategyHeld[symbol] = after
    const isFollowed = postedAt >= startedAt && postedAt < (stoppedAt ?? Number.POSITIVE_INFINITY)
    if (!isFollowed) {
      if (postedAt < startedAt && !follower.joins) isExcluded[symbol] = after !== 0
      continue
    }
    const ref = signal.limit ?? signal.stop ?? closeKnownAt(symbol, postedAt)
    const cap =
      maxDollars === null
        ? Number.POSITIVE_INFINITY
        : ref === undefined
          ? 0
          : Math.floor((maxDollars * 100) / ref)
    const target = (position: number): number =>
      Math.min(Math.floor((position * percent) / 100), Math.max(cap, A))
    const wanted = P + quantity * side
    const opening = postedAt < offAt ? Math.max(0, target(wanted) - target(P)) : 0
    const closing = wanted === 0 ? A : Math.max(0, A - target(wanted))
    const copied = isExcluded[symbol] ? 0 : signal.opens ? opening : closing
    if (isExcluded[symbol] && after === 0) isExcluded[symbol] = false
    if (copied === 0 || signal.filledAt === null) continue
    held[symbol] = A + copied * side
    made.push({ symbol, quantity: copied * side, px: signal.px!, at: signal.filledAt })
  }
  correct(Number.POSITIVE_INFINITY)
  if (stoppedAt !== null && !follower.leftOpen) {
    for (const [symbol, quantity] of Object.entries(held).filter(([, quantity]) => quantity !== 0)) {
      const { open, date } = rowAfter(symbol, dateOf(stoppedAt - 86_400_000))
      made.push({ symbol, quantity: -quantity, px: open, at: Date.parse(`${date}T13:30:00Z`) })
    }
  }
  return made.sort((a, b) => a.at - b.at || a.symbol.localeCompare(b.symbol))
}
