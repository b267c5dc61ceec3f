/**
 * The other 179 followers, each with one strategy, drawn up by a fixed pattern instead of by hand: 41 from the start
 * of what they follow, the others join one by one what has made itself a name. Everybody has money for five times the
 * share that is followed.
 */
import { type FollowerPart, type StrategyName, type StrategyPart, strategyParts } from './cast.ts'

const firstNames = `Ada Bruno Carla Dario Edith Felix Gita Henry Ilse Jamal Katya Leon Maya Nils Olga`.split(
  ' ',
)
const lastNames = `Adler Brandt Costa Dubois Evans Fontana Garcia Hansen Ivanov Jensen Keller Lopez`.split(
  ' ',
)

/** How many follow which from its first day; together 41. */
const fromTheStart: Record<StrategyName, number> = {
  hold: 0,
  golden: 5,
  breakout: 5,
  breakoutAgain: 5,
  martingale: 5,
  knives: 5,
  rebalance: 0,
  turn: 5,
  gold: 5,
  euro: 5,
  trend: 0,
  reversion: 1,
}

/** What the later ones join, and when, in turn. */
const joined: readonly StrategyName[] = ['trend', 'golden', 'breakoutAgain', 'hold']
const joiningDays = ['2019-02-04', '2019-05-06', '2019-09-09', '2019-11-04']
const laterOnes = 138

/** Percentages in turn. */
const percents = [10, 25, 50, 100, 15, 33, 5, 75, 20, 60, 150]

/** Those of the start one strategy after the other, then those who join. */
const follows: readonly { readonly strategy: StrategyPart; readonly from: string }[] = [
  ...strategyParts.flatMap((strategy) =>
    Array.from({ length: fromTheStart[strategy.key] }, () => ({ strategy, from: strategy.startsOn })),
  ),
  ...Array.from({ length: laterOnes }, (_, place) => ({
    strategy: partOf(joined[place % joined.length]),
    from: joiningDays[Math.floor((place * joiningDays.length) / laterOnes)] ?? '',
  })),
]

export const crowd: readonly FollowerPart[] = follows.map(({ strategy, from }, place): FollowerPart => {
  const { key, capital } = strategy
  const percent = percents[place % percents.length] ?? 100
  const name = `${firstNames[place % firstNames.length]} ${lastNames[Math.floor(place / firstNames.length)]}`
  return {
    name,
    account: `PAPER-${2001 + place}`,
    cash: String(Math.ceil((capital * percent) / 20)),
    isOfPartner: place % 4 === 0,
    follows: [{ strategy: key, percent, from }],
  }
})

function partOf(key: StrategyName | undefined): StrategyPart {
  const part = strategyParts.find((one) => one.key === key)
  if (!part) throw new RangeError(`the cast has no strategy ${key}`)
  return part
}
