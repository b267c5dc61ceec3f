/** Both sides of the worker over one paper broker, with a clock that stands still. */
import { accountSteps } from '../../src/execution/account-side.ts'
import type { Broker } from '../../src/execution/brokers/broker.ts'
import { createPaperBroker, type PaperBroker, type PaperOptions } from '../../src/execution/brokers/paper.ts'
import { momentsOf, type Step } from '../../src/execution/context.ts'
import { publishQuotes } from '../../src/execution/orders/matcher.ts'
import { createWorker } from '../../src/execution/worker.ts'
import type { Database } from '../../src/storage/database/database.ts'
import { auditViolations } from '../../src/storage/operating/audit.ts'
import { accountRules } from '../../src/storage/operating/audit-accounts.ts'
import { makeWorld, quote, steps as strategySteps, type World } from './world.ts'

export interface AccountWorld extends World {
  paper: PaperBroker
  steps: readonly Step[]
  /** Does what is due in one step, by its name. */
  step(name: string): Promise<number>
  /** Works until nothing is left to do. */
  drain(): Promise<number>
  /** A quote now, and everything it causes. */
  quote(symbol: string, bid: string, ask: string): Promise<void>
}

/** `brokerOf` may stand between the platform and the paper broker. */
export function makeAccountWorld(
  db: Database,
  options: PaperOptions = {},
  brokerOf = (broker: Broker): Broker => broker,
): AccountWorld {
  const paper = createPaperBroker(options)
  const steps = [...strategySteps, ...accountSteps({ paper: brokerOf(paper.broker) })]
  const world = makeWorld(db, {
    quoteSinks: [paper.quoteSink],
    barSinks: [paper.barSink],
    dueSources: momentsOf(steps),
  })
  const worker = createWorker({ ctx: world.ctx, steps })
  return {
    ...world,
    paper,
    steps,
    step: (name) => steps.find((step) => step.name === name)!.run(world.ctx),
    drain: () => worker.drain(),
    quote: async (symbol, bid, ask) => {
      await publishQuotes(world.ctx, [quote(symbol, bid, ask, world.clock.now())])
      await worker.drain()
    },
  }
}

export interface OrderView {
  id: number
  status: string
  ordType: string
  revision: number
  orderQty: number
  cumQty: number
  avgPx: number | null
  limitPx: number | null
  pendingAction: string | null
  attempts: number
  info: string | null
  rejectText: string | null
  positionEffect: string
  unknownAt: number | null
}

/** A setup's orders, oldest first. */
export const readOrders = ({ ctx }: World, setupId: number): Promise<OrderView[]> =>
  ctx.db.read.rows<OrderView>`
    select id, status, ord_type as "ordType", revision, order_qty::float8 as "orderQty", cum_qty::float8 as "cumQty",
      avg_px::float8 as "avgPx", limit_px::float8 as "limitPx", pending_action as "pendingAction", attempts, info,
      reject_text as "rejectText", position_effect as "positionEffect", unknown_at as "unknownAt"
    from account_order where setup_id = ${setupId} order by id`

/** What a setup holds of an instrument. */
export const readHeld = async ({ ctx }: World, setupId: number, instrumentId: number): Promise<number> =>
  (
    await ctx.db.read.one<{ held: number }>`
      select coalesce((select quantity from account_position
        where setup_id = ${setupId} and instrument_id = ${instrumentId}), 0)::float8 as held`
  ).held

/** What the broker says the setup's account holds of a symbol. */
export async function readBroker(world: AccountWorld, setupId: number, symbol: string): Promise<number> {
  const { accountId } = await world.ctx.db.read.one<{ accountId: number }>`
    select account_id as "accountId" from setup where id = ${setupId}`
  const [snapshot] = await world.paper.broker.snapshot(world.ctx, [accountId])
  return Number(snapshot?.positions.get(symbol) ?? 0)
}

export const readSkips = ({ ctx }: World, signalId: number): Promise<{ setupId: number; code: string }[]> =>
  ctx.db.read
    .rows`select setup_id as "setupId", code from account_skip where signal_id = ${signalId} order by setup_id`

/** Kinds of the incidents so far, in order. */
export const readIncidents = async ({ ctx }: World): Promise<string[]> =>
  (await ctx.db.read.rows<{ kind: string }>`select kind from incident order by id`).map(({ kind }) => kind)

/** What breaks a rule of the accounts' side. */
export const accountViolations = async ({ ctx }: World): Promise<string[]> =>
  (await auditViolations(ctx.db.read))
    .filter(({ rule }) => rule in accountRules)
    .map(({ rule, detail }) => `${rule}: ${detail}`)

/** The same where executions were told that the paper broker's own book knows nothing of. */
export const platformViolations = async (world: World): Promise<string[]> =>
  (await accountViolations(world)).filter((text) => !text.startsWith('brokerBook'))
