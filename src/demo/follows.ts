/** What people do on the way: strategies start, followers join, switch off and stop, each on a trade date. */
import type { Day } from '../domain/time.ts'
import { startAutotrade, stopAutotrade } from '../operations/autotrade/setups.ts'
import { addStrategy } from '../operations/strategies/adding.ts'
import { changeStrategy } from '../storage/operating/administration.ts'
import { dayOf, type FollowPart, type StrategyName, type StrategyPart, strategyParts } from './cast.ts'
import type { People } from './people.ts'
import { type Actor, contextOf, granted, type Stage } from './stage.ts'

/** Ids of the strategies that have started. */
export type Strategies = Map<StrategyName, number>

/** Something that a person does before the open of a trade date. */
export interface Act {
  readonly day: Day
  run(): Promise<void>
}

/** All acts in order; those of one day in the order in which they are to happen. */
export function actsOf(stage: Stage, people: People, strategies: Strategies): Act[] {
  const idOf = (key: StrategyName): number => strategies.get(key) ?? 0
  const starts = strategyParts.map((part): Act => {
    const begin = async (): Promise<void> => {
      strategies.set(part.key, await startStrategy(stage, people.developer, part.name, part.capital))
    }
    return { day: dayOf(part.startsOn), run: begin }
  })
  const ends = strategyParts.flatMap(({ key, endsOn }): Act[] => {
    const end = async (): Promise<void> => {
      const changedAt = stage.clock.now()
      await changeStrategy(stage.db.write, { strategyId: idOf(key), isAlive: false, changedAt })
    }
    return endsOn === undefined ? [] : [{ day: dayOf(endsOn) + 7, run: end }]
  })
  const follows = people.followers.flatMap((follower) =>
    follower.part.follows.flatMap((follow) => {
      return followActs(stage, follower, follower.part.account, follow, () => idOf(follow.strategy))
    }),
  )
  return [...starts, ...ends, ...follows].sort((a, b) => a.day - b.day)
}

function followActs(
  stage: Stage,
  actor: Actor,
  Account: string,
  follow: FollowPart,
  strategyId: () => number,
): Act[] {
  const trades = strategyParts.find(({ key }: StrategyPart) => key === follow.strategy)?.trades ?? 'stocks'
  const start = (isNew: boolean) => async () => {
    await stage.db.transaction(async (tx) =>
      granted(
        await startAutotrade(contextOf(stage, tx, actor), {
          Account,
          StrategyId: strategyId(),
          ScalingPercentage: follow.percent,
          StocksEnabled: isNew && trades === 'stocks',
          FuturesEnabled: isNew && trades === 'futures',
          ForexEnabled: isNew && trades === 'forex',
          OptionsEnabled: false,
          ShortOptionsEnabled: false,
          ...(follow.maxDollars !== undefined && { MaxStocksDollars: follow.maxDollars }),
          ...(isNew && follow.doesNotJoin && { DoNotJoinCurrentSystemPositions: true }),
        }),
      ),
    )
  }
  const stop = async (): Promise<void> => {
    await stage.db.transaction(async (tx) =>
      granted(
        await stopAutotrade(contextOf(stage, tx, actor), {
          Account,
          PersonId: actor.personId,
          StrategyId: strategyId(),
          LeavePositionsOpen: follow.leavesOpen ?? false,
          TerminateStrategySubscription: false,
        }),
      ),
    )
  }
  return [
    { day: dayOf(follow.from), run: start(true) },
    ...(follow.closingFrom ? [{ day: dayOf(follow.closingFrom), run: start(false) }] : []),
    ...(follow.until ? [{ day: dayOf(follow.until), run: stop }] : []),
  ]
}

async function startStrategy(
  stage: Stage,
  owner: Actor,
  StrategyName: string,
  StartingCapital: number,
): Promise<number> {
  const answer = await stage.db.transaction(async (tx) =>
    granted(await addStrategy(contextOf(stage, tx, owner), { StrategyName, StartingCapital })),
  )
  const [row] = 'results' in answer ? answer.results : []
  if (!row) throw new Error('a strategy of the demo got no id')
  return Number(row.StrategyId)
}
