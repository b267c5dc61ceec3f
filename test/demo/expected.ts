/** What the demo's followers should have traded, worked out from their settings and the strategies' fills alone. */
import type { FollowerView, SignalView } from './books.ts'
import { closeKnownAt, dateOf, rowAfter } from './record.ts'

/** From this day on the account takes no new stock positions. */
export const switchedOff: Record<string, number> = {
  'PAPER-1019 Mean reversion SPX': Date.parse('2015-01-05T00:00:00Z'),
}

/**
 * What AutoSync opened because the account had not yet held what its strategy held: no price was known when the
 * signal came (Elena Rossi), the strategy was joined while it held something (Iris Novak, Ines Investor), a cap in
 * dollars allowed one more when the price had fallen (Nadia Haddad).
 */
export const corrections: readonly (Expected & { readonly account: string })[] = [
  { account: 'PAPER-1005', symbol: 'SPX', quantity: 6, ...openOn('2000-01-04T14:30:00Z') },
  { account: 'PAPER-1009', symbol: 'SPX', quantity: 72, ...openOn('2004-06-01T13:30:00Z') },
  { account: 'PAPER-1014', symbol: 'SPX', quantity: 1, ...openOn('2009-04-02T13:30:00Z') },
  { account: 'PAPER-1000', symbol: 'SPX', quantity: 41, ...openOn('2015-06-01T13:30:00Z') },
]

/** The open of the index on a day. */
function openOn(moment: string): { px: number; at: number } {
  const at = Date.parse(moment)
  return { px: rowAfter('SPX', dateOf(at - 86_400_000)).open, at }
}

interface Expected {
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
  const ahead = corrections.filter(({ account }) => account === follower.account)
  const correct = (until: number): void => {
    while (ahead[0] && ahead[0].at <= until) {
      const { account: _, ...correction } = ahead.shift()!
      held[correction.symbol] = (held[correction.symbol] ?? 0) + correction.quantity
      made.push(correction)
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
