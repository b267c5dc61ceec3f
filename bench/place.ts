/**
 * Durable placement inside one process: 64 callers, each waiting for its commit before the next order. The
 * product gathers the orders of one moment into one transaction; the naive forms run the same statements with
 * a transaction for each order, and one statement for each order.
 */
import { compileRow, rows } from '../src/contract/index.ts'
import type { Caller } from '../src/operations/context.ts'
import { handlers } from '../src/operations/index.ts'
import { createRunner, type Run } from '../src/operations/run.ts'
import { newStrategyOrder } from '../src/operations/strategies/orders.ts'
import { orderOf, type Platform, secrets, startPlatform, symbol } from './support/platform.ts'
import { type Bench, interleaved, ratioOf } from './support/report.ts'

const clients = 64
const roundMs = 2_000
const rounds = 5

/** Calls `once` from `callers` loops for a while; answers completed calls per second. */
async function rate(callers: number, once: (caller: number) => Promise<unknown>): Promise<number> {
  const until = performance.now() + roundMs
  let done = 0
  const loop = async (caller: number): Promise<void> => {
    while (performance.now() < until) {
      await once(caller)
      done += 1
    }
  }
  const startedAt = performance.now()
  await Promise.all(Array.from({ length: callers }, (_, caller) => loop(caller)))
  return (done * 1000) / (performance.now() - startedAt)
}

function caller(platform: Platform): Caller {
  const { accessKeyId, ownerId: personId } = platform
  return {
    accessKeyId,
    keyId: 'bench',
    personId,
    role: 'user',
    siteId: 1,
    siteKind: 'platform',
    permissions: null,
  }
}

function placing(platform: Platform, run: Run) {
  const compiled = compileRow(rows.NewStrategyOrder, 'Gen', 'native')
  const who = caller(platform)
  return async (client: number) => {
    const strategyId = platform.strategyIds[client % platform.strategyIds.length] ?? 1
    const reply = await run({
      operation: 'NewStrategyOrder',
      compiled,
      params: orderOf(strategyId),
      caller: who,
      host: 'Gen',
      dialect: 'native',
      requestId: 'bench',
      origin: 'http://localhost',
    })
    if (reply.status !== 200) throw new Error(`an order was refused: ${reply.body}`)
  }
}

/** The least an order needs, in one statement: no events, no idempotency, no rules. */
const oneStatement = (platform: Platform) => async (client: number) => {
  const strategyId = platform.strategyIds[client % platform.strategyIds.length] ?? 1
  await platform.db.write.run`
    with locked as (
      select id, membership_version from strategy
      where id = ${strategyId}::bigint and owner_person_id = ${platform.ownerId}::bigint and is_alive for no key update
    ), placed as (
      insert into signal (strategy_id, instrument_id, side, ord_type, time_in_force, position_effect, order_qty,
        limit_px, status, posted_at, working_at, membership_horizon, needs_match, mirror_due)
      select locked.id, instrument.id, '1', '2', '1', 'O', 10, 100.25, '0', now(), now(), membership_version, true, true
      from locked, instrument where instrument.symbol = ${symbol} returning id
    )
    insert into signal_event (signal_id, seq, event, status, occurred_at, cause)
    select id, 1, 'ACK', '0', now(), '{}' from placed`
}

async function run() {
  const platform = await startPlatform(clients)
  const shared = { db: platform.db, clock: { now: () => Date.now() }, secrets, environment: 'B' }
  const product = createRunner({ ...shared, handlers })
  // The same handler, one call at a time: the runner gives it a transaction for each order.
  const alone = createRunner({
    ...shared,
    handlers: {
      ...handlers,
      NewStrategyOrder: async (ctx, params) => {
        const [outcome] = await newStrategyOrder.many(ctx.sql, [{ ctx, params }])
        if (!outcome) throw new Error('an order got no outcome')
        return outcome
      },
    },
  })
  const method = (name: string, callers: number, once: (client: number) => Promise<unknown>) => ({
    name,
    unit: 'orders/s',
    measure: () => rate(callers, once),
  })
  const figures = await interleaved(
    [
      method('product, 64 callers', clients, placing(platform, product)),
      method('one commit per order, 64 callers', clients, placing(platform, alone)),
      method('one statement per order, 64 callers', clients, oneStatement(platform)),
      method('product, 1 caller', 1, placing(platform, product)),
      method('one statement per order, 1 caller', 1, oneStatement(platform)),
    ],
    rounds,
  )
  await platform.close()
  return {
    figures,
    ratios: [
      ratioOf(figures, 'product, 64 callers', 'one commit per order, 64 callers', { atLeast: 3 }),
      ratioOf(figures, 'product, 64 callers', 'one statement per order, 64 callers', { atLeast: 1.5 }),
      ratioOf(figures, 'product, 1 caller', 'one statement per order, 1 caller'),
    ],
  }
}

export const bench: Bench = { name: 'place', run }
