/** What cannot be done for one holds up nobody else: neither in the turn in which it fails nor while it rests. */
import { afterEach, expect, test } from 'vitest'
import { recordSteps } from '../../src/execution/assembly.ts'
import { publishBars, publishQuotes } from '../../src/execution/orders/matcher.ts'
import { transmitStep } from '../../src/execution/orders/transmit.ts'
import { createWorker } from '../../src/execution/worker.ts'
import type { BookKind } from '../../src/storage/accounts/daily-close.ts'
import { identifier } from '../../src/storage/database/sql.ts'
import { instant } from '../../src/storage/database/wire.ts'
import { markSetups } from '../../src/storage/mirror/sync-due.ts'
import { testDatabase } from '../support/database.ts'
import { addBroker, leaveStrategy } from '../support/followers.ts'
import { makeScene } from './account-scene.ts'
import { makeAccountWorld } from './account-world.ts'
import { bar, quote } from './world.ts'

const { db } = await testDatabase()
const world = makeAccountWorld(db)
const scene = makeScene(world, await addBroker(db))
const { drain } = createWorker({
  ctx: world.ctx,
  steps: [...world.steps, transmitStep, ...recordSteps],
})
type Scene = Awaited<ReturnType<typeof scene>>

interface Work {
  /** The write that the database refuses for one of two. */
  readonly refused: (broken: Scene) => { on: string; when: string }
  /** What comes before. */
  readonly prepare: (scene: Scene) => Promise<unknown>
  /** Makes the work due. */
  readonly due: (scene: Scene) => Promise<unknown>
  readonly isDone: (scene: Scene) => Promise<boolean>
}

const statuses = async ({ strategyId }: Scene): Promise<string[]> =>
  (
    await db.read.rows<{ status: string }>`
      select status from signal where strategy_id = ${strategyId} order by id`
  ).map(({ status }) => status)

const isNone = async (rows: Promise<unknown[]>): Promise<boolean> => (await rows).length === 0

const quoted = ({ symbol }: Scene): Promise<void> => world.quote(symbol, '99', '100')
const resting = ({ order }: Scene): Promise<number> => order('1', '6', { limit: '50' })

/** A record that is looked at and finds that its next day has not ended yet. */
function dayOf(kind: BookKind, idOf: (scene: Scene) => number): Work {
  const record = identifier(`${kind}_record`)
  const id = identifier(`${kind}_id`)
  return {
    refused: (scene) => ({
      on: `update of next_close_at on ${kind}_record`,
      when: `new.next_close_at > old.next_close_at and new.${kind}_id = ${idOf(scene)}`,
    }),
    prepare: async () => {},
    due: (scene) =>
      db.write.run`
        update ${record} set next_close_at = ${instant(world.clock.time)}::timestamptz where ${id} = ${idOf(scene)}`,
    isDone: (scene) =>
      isNone(
        db.read.rows`
          select from ${record} where ${id} = ${idOf(scene)} and next_close_at <= ${instant(world.clock.time)}::timestamptz`,
      ),
  }
}

const works: Record<string, Work> = {
  'a new order that meets the last quote': {
    refused: ({ strategyId }) => ({ on: 'update on signal', when: `new.strategy_id = ${strategyId}` }),
    prepare: quoted,
    due: ({ order }) => order('1', '6'),
    isDone: async (one) => (await statuses(one)).at(-1) === '2',
  },
  'the end of a day order': {
    refused: ({ strategyId }) => ({
      on: 'update on signal',
      when: `new.status = 'C' and new.strategy_id = ${strategyId}`,
    }),
    prepare: resting,
    due: ({ strategyId }) =>
      db.write.run`
        update signal set expires_at = ${instant(world.clock.time)}::timestamptz where strategy_id = ${strategyId}`,
    isDone: async (one) => (await statuses(one)).at(-1) === 'C',
  },
  'the copies of a signal': {
    refused: ({ setupId }) => ({ on: 'insert on account_order', when: `new.setup_id = ${setupId}` }),
    prepare: async () => {},
    due: resting,
    isDone: async ({ orders }) => (await orders()).length > 0,
  },
  'a copy that its signal has left behind': {
    refused: ({ accountId }) => ({
      on: 'update of chase_at on account_order',
      when: `old.chase_at is not null and new.account_id = ${accountId}`,
    }),
    prepare: resting,
    due: ({ accountId }) =>
      db.write.run`
        update account_order set chase_at = ${instant(world.clock.time)}::timestamptz where account_id = ${accountId}`,
    isDone: ({ accountId }) =>
      isNone(
        db.read.rows`select from account_order where account_id = ${accountId} and chase_at is not null`,
      ),
  },
  'a cycle of AutoSync': {
    refused: ({ setupId }) => ({ on: 'delete on sync_due', when: `old.setup_id = ${setupId}` }),
    prepare: async () => {},
    due: ({ setupId }) => markSetups(db.write, [setupId], world.clock.time),
    isDone: ({ setupId }) => isNone(db.read.rows`select from sync_due where setup_id = ${setupId}`),
  },
  'the closing of a stopped setup': {
    refused: ({ setupId }) => ({
      on: 'insert on account_order',
      when: `new.source = 'X' and new.setup_id = ${setupId}`,
    }),
    prepare: async (one) => {
      await quoted(one)
      await one.order('1', '6')
    },
    due: ({ setupId }) => leaveStrategy(db, setupId),
    isDone: async ({ orders }) => (await orders()).length === 2,
  },
  'a day of a strategy': dayOf('strategy', ({ strategyId }) => strategyId),
  'a day of an account': dayOf('account', ({ accountId }) => accountId),
  'the figures of a strategy': {
    refused: ({ strategyId }) => ({
      on: 'update on strategy_record',
      when: `not new.statistics_due and new.strategy_id = ${strategyId}`,
    }),
    prepare: async () => {},
    due: ({ strategyId }) =>
      db.write.run`update strategy_record set statistics_due = true where strategy_id = ${strategyId}`,
    isDone: ({ strategyId }) =>
      isNone(db.read.rows`select from strategy_record where strategy_id = ${strategyId} and statistics_due`),
  },
  'what an account trades for a strategy': {
    refused: ({ strategyId }) => ({
      on: 'update on transmission',
      when: `new.strategy_id = ${strategyId}`,
    }),
    prepare: async () => {},
    due: ({ strategyId, accountId, instrumentId }) =>
      db.write.run`
        insert into transmission (strategy_id, account_id, exec_id, instrument_id, side, quantity, px, executed_at)
        values (${strategyId}, ${accountId}, 'own', ${instrumentId}, '1', 5, 10,
          ${instant(world.clock.time)}::timestamptz)`,
    isDone: async (one) => (await statuses(one)).at(-1) === '2',
  },
}

/** The database refuses what is written for this one, until told otherwise. */
const refuse = ({ on, when }: { on: string; when: string }): Promise<void> =>
  db.transaction((tx) =>
    tx.script(`
      create or replace function refuse() returns trigger language plpgsql as $$ begin raise 'refused'; end $$;
      create trigger refuse before ${on} for each row when (${when}) execute function refuse()`),
  )
const accept = (): Promise<void> =>
  db.transaction((tx) => tx.script('drop function if exists refuse cascade'))
afterEach(accept)

const endRests = (): void => {
  for (const rests of world.ctx.tally.resting.values()) for (const id of rests.keys()) rests.set(id, 0)
}

test.each(Object.entries(works))('%s', async (_, { refused, prepare, due, isDone }) => {
  const [broken, sound, late] = [await scene(), await scene(), await scene()]
  for (const one of [broken, sound, late]) await prepare(one)
  await drain()
  for (const one of [broken, sound]) await due(one)
  await refuse(refused(broken))
  await expect(drain()).rejects.toThrow('cannot be done for somebody')
  expect([await isDone(broken), await isDone(sound)]).toEqual([false, true])

  // While it rests nothing fails because of it.
  await drain()
  await due(late)
  await drain()
  expect([await isDone(broken), await isDone(late)]).toEqual([false, true])

  endRests()
  await expect(drain()).rejects.toThrow('cannot be done for somebody')
  await accept()
  endRests()
  await drain()
  expect(await isDone(broken)).toBe(true)
})

const prices = {
  quotes: (symbols: readonly string[]) =>
    publishQuotes(
      world.ctx,
      symbols.map((symbol) => quote(symbol, '89', '90', world.clock.time)),
    ),
  bars: (symbols: readonly string[]) =>
    publishBars(
      world.ctx,
      symbols.map((symbol) => bar(symbol, ['90', '91', '89', '90'], world.clock.time)),
    ),
}

const failuresOf = (work: string) => () => world.ctx.tally.stepFailures.get(work) ?? 0

test.each(['quotes', 'bars'] as const)('a batch of %s', async (kind) => {
  const [broken, sound] = [await scene(), await scene()]
  const symbols = [broken.symbol, sound.symbol]
  const come = async () => {
    world.clock.time += 60_000
    await prices[kind](symbols)
  }
  for (const one of [broken, sound]) await one.order('1', '6', { limit: '95' })
  await refuse({
    on: 'update on signal',
    when: `new.status = '2' and new.strategy_id = ${broken.strategyId}`,
  })
  const failed = () => world.ctx.tally.stepFailures.get('prices for a strategy') ?? 0
  const before = failed()
  // The market does not stop for it.
  await come()
  expect([await statuses(broken), await statuses(sound)]).toEqual([['0'], ['2']])
  expect(failed() - before).toBe(1)
  await come()
  expect(failed() - before).toBe(1)
  await accept()
  endRests()
  await come()
  expect(await statuses(broken)).toEqual(['2'])
  const fills = await db.read.rows<{ strategyId: number }>`
    select strategy_id as "strategyId" from fill
    where strategy_id in (${broken.strategyId}, ${sound.strategyId}) order by 1`
  expect(fills).toHaveLength(2)
})

test.each(['quotes', 'bars'] as const)('a batch of %s at the paper broker', async (kind) => {
  const [broken, sound] = [await scene(), await scene()]
  for (const { symbol, order } of [broken, sound]) {
    await world.quote(symbol, '99', '100')
    await order('1', '6', { limit: '95' })
  }
  await world.drain()
  await refuse({
    on: 'update on paper_order',
    when: `new.status = '2' and new.account_id = ${broken.accountId}`,
  })
  const failed = failuresOf('prices for a paper account')
  const before = failed()
  world.clock.time += 60_000
  await prices[kind]([broken.symbol, sound.symbol])
  expect(failed() - before).toBe(1)
  await accept()
  endRests()
  await world.drain()
  expect([await broken.held(), await sound.held()]).toEqual([0, 6])
  world.clock.time += 60_000
  await prices[kind]([broken.symbol, sound.symbol])
  await world.drain()
  expect([await broken.held(), await sound.held()]).toEqual([6, 6])
})

test('quotes of a market where a new order cannot be worked on', async () => {
  const [broken, sound] = [await scene(), await scene()]
  for (const one of [broken, sound]) await quoted(one)
  await resting(broken)
  await refuse({ on: 'update on signal', when: `new.strategy_id = ${broken.strategyId}` })
  const failed = failuresOf('new orders of a strategy')
  const before = failed()
  const at = world.clock.time
  await publishQuotes(
    world.ctx,
    [broken, sound].map(({ symbol }) => quote(symbol, '97', '98', at)),
  )
  expect(await db.read.rows`select ask::int from quote where instrument_id = ${sound.instrumentId}`).toEqual([
    { ask: 98 },
  ])
  expect(failed() - before).toBe(1)
  await accept()
  endRests()
  await world.drain()
})
