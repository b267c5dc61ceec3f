/**
 * Seeds the demo: people, accounts and two decades of recorded prices traded by rule through the product's own
 * engine. A platform is seeded once. A seeding that was cut short is emptied and played again from its start,
 * to the same books; a platform that somebody else has begun to use is left alone. Only one process seeds.
 */
import { dayIn, newYork, readDay } from '../domain/time.ts'
import { bootstrap } from '../operations/bootstrap.ts'
import type { Secrets } from '../operations/secrets.ts'
import type { Database } from '../storage/database/database.ts'
import { emptyPlatform, isEmptyPlatform, lockProvisioning } from '../storage/operating/provision.ts'
import { listSwitches, setSwitch } from '../storage/work/switches.ts'
import { followerParts, investorPart, strategyParts } from './cast.ts'
import { crowd } from './crowd.ts'
import type { DemoFacts, DemoKey } from './facts.ts'
import { playHistory } from './history.ts'
import { issueDemoKeys } from './keys.ts'
import { enterIndex, enterMarks, insertPlayed, openSimulation } from './market.ts'
import { insertPeople, type People } from './people.ts'
import type { DemoSymbol } from './rules.ts'
import { buildStage, type Stage } from './stage.ts'
import { firstPrices } from './synthetic.ts'
import { openTape, type Tape } from './tape.ts'

export interface SeedOptions {
  readonly db: Database
  readonly secrets: Secrets
  /** How keys and client order ids of this platform are marked. */
  readonly environments: { readonly keys: string; readonly orders: string }
  readonly log: Stage['work']['log']
  /** Business time at which the history ends and the simulation begins. */
  readonly now: number
  /** Trade dates played so far, and all. */
  readonly onProgress?: (done: number, total: number) => void
  /** Ends the history on an earlier day, YYYY-MM-DD. */
  readonly lastDay?: string
  /** Cuts the seeding short: it rejects with the signal's reason, and the next one begins again. */
  readonly signal?: AbortSignal
}

const seedingSwitch = 'seeding'

/** Kept in the switch when the demo is there: who gets new keys when the first ones are lost. */
interface Seeded {
  readonly state: 'running' | 'done'
  readonly facts?: Omit<DemoFacts, 'keys'> & { readonly holders: readonly Omit<DemoKey, 'key'>[] }
}

/** Seeds an empty platform and answers its facts; undefined where it is seeded already or in use without. */
export async function seedDemo(options: SeedOptions): Promise<DemoFacts | undefined> {
  const { db } = options
  // The lock's transaction stays open, and does nothing else, until the seeding is over.
  return db.transaction(async (lock) => {
    await lockProvisioning(lock)
    const seeding = await readSeeding(db)
    if (seeding?.state === 'done') return undefined
    if (!seeding && !(await isEmptyPlatform(db.read))) return undefined
    const quick = db.relaxed()
    try {
      return await seed({ ...options, db: quick })
    } finally {
      await quick.close()
    }
  })
}

/** New keys for the people of a seeded demo, the old ones end; undefined where there is no demo. */
export async function renewDemoKeys({
  db,
  secrets,
  environments,
  now,
}: Pick<SeedOptions, 'db' | 'secrets' | 'environments' | 'now'>): Promise<DemoFacts | undefined> {
  const { facts } = (await readSeeding(db)) ?? {}
  if (!facts) return undefined
  const { holders, ...known } = facts
  return {
    ...known,
    keys: await issueDemoKeys({ db, secrets, keyEnvironment: environments.keys, now }, holders),
  }
}

const readSeeding = async (db: Database): Promise<Seeded | undefined> =>
  (await listSwitches(db.read)).get(seedingSwitch) as Seeded | undefined

async function seed(options: SeedOptions): Promise<DemoFacts> {
  const { db, secrets, environments, now } = options
  const onDay = (done: number, total: number): void => {
    options.signal?.throwIfAborted()
    options.onProgress?.(done, total)
  }
  const tape = openTape(options.lastDay === undefined ? undefined : readDay(options.lastDay))
  const begin = tape.days[0]?.open ?? now
  const people = await begun(db, begin, now)
  const stage = buildStage(db, options.log, environments.orders, secrets)
  const strategies = await playHistory(stage, people, tape, onDay)
  await enterMarks(db.write, tape)
  await enterIndex(db.write, tape)
  stage.clock.time = now
  await db.transaction((tx) => openSimulation(tx, now, lastPrices(tape)))
  await stage.keeping.drain()
  await Promise.all([stage.records.drain(), stage.records.drain()])
  const holders = people.keyHolders.map((holder) => ({
    ...holder,
    ...(holder.role === 'developer' && { strategyId: strategies.get('trend') ?? 0 }),
    ...(holder.role === 'investor' && { account: investorPart.account }),
  }))
  const facts = {
    strategies: strategyParts.flatMap(({ key, name }) => {
      const id = strategies.get(key)
      return id === undefined ? [] : [{ id, name }]
    }),
    accounts: [investorPart, ...followerParts, ...crowd].map(({ account }) => account),
  }
  const keys = await issueDemoKeys({ db, secrets, keyEnvironment: environments.keys, now }, holders)
  const done: Seeded = { state: 'done', facts: { ...facts, holders } }
  await setSwitch(db.write, seedingSwitch, done, now)
  return { ...facts, keys }
}

/** Empties what an unfinished seeding left and puts up the stage's people and instruments. */
const begun = (db: Database, begin: number, now: number): Promise<People> =>
  db.transaction(async (tx) => {
    await emptyPlatform(tx)
    const running: Seeded = { state: 'running' }
    await setSwitch(tx, seedingSwitch, running, now)
    const { paperBrokerId } = await bootstrap(tx, now)
    await insertPlayed(tx, dayIn(now, newYork))
    return insertPeople(tx, paperBrokerId, begin - 86_400_000)
  })

/** What the simulation carries on from. */
function lastPrices({ price }: Tape): Record<DemoSymbol, string> {
  const textOf = (symbol: DemoSymbol): string => (price(symbol) ?? firstPrices[symbol]).toFixed()
  return { SPX: textOf('SPX'), AAPL: textOf('AAPL'), '@MGCZ30': textOf('@MGCZ30'), EURUSD: textOf('EURUSD') }
}
