/**
 * The other 41 followers, each with one strategy, drawn up by a fixed pattern instead of by hand: most follow
 * what is young, for every account has each of its days closed. Everybody has money for five times the share that is followed.
 */
import { type FollowerPart, type StrategyName, strategyParts } from './cast.ts'

const firstNames = `Ada Bruno Carla Dario Edith Felix Gita Henry Ilse Jamal Katya Leon Maya Nils Olga`.split(
  ' ',
)
const lastNames = `Adler Brandt Costa Dubois Evans Fontana Garcia Hansen Ivanov Jensen Keller Lopez`.split(
  ' ',
)

/** How many follow which; together 41. */
const followed: Record<StrategyName, number> = {
  ...{ hold: 0, golden: 5, breakout: 5, breakoutAgain: 5, martingale: 5, knives: 5 },
  ...{ rebalance: 0, turn: 5, gold: 5, euro: 5, trend: 0, reversion: 1 },
}

/** Percentages in turn. */
const percents = [10, 25, 50, 100, 15, 33, 5, 75, 20, 60, 150]

/** One strategy after the other with all its followers. */
export const crowd: readonly FollowerPart[] = strategyParts
  .flatMap((strategy) => Array.from({ length: followed[strategy.key] }, () => strategy))
  .map(({ key, capital, startsOn }, place): FollowerPart => {
    const percent = percents[place % percents.length] ?? 100
    const name = `${firstNames[place % firstNames.length]} ${lastNames[Math.floor(place / firstNames.length)]}`
    return {
      name,
      account: `PAPER-${2001 + place}`,
      cash: String(Math.ceil((capital * percent) / 20)),
      isOfPartner: place % 4 === 0,
      follows: [{ strategy: key, percent, from: startsOn }],
    }
  })
