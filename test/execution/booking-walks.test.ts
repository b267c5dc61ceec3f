/** Random lives of strategies: whatever owners and the market do, the books add up and exits only reduce. */
import fc from 'fast-check'
import { expect, test } from 'vitest'
import { publishBars, publishQuotes } from '../../src/execution/orders/matcher.ts'
import { createWorker } from '../../src/execution/worker.ts'
import { auditViolations } from '../../src/storage/operating/audit.ts'
import { testDatabase } from '../support/database.ts'
import { addInstrument, addStrategy, bar, makeWorld, place, quote, readBook, steps } from './world.ts'

const { db } = await testDatabase()
const hour = 3_600_000

const price = fc.integer({ min: 90, max: 110 }).map(String)
const order = fc.record({
  act: fc.constant('order' as const),
  strategy: fc.nat(1),
  side: fc.constantFrom('1' as const, '2' as const),
  quantity: fc.integer({ min: 1, max: 30 }).map(String),
  kind: fc.constantFrom('market', 'limit', 'stop'),
  price,
  goodTillCanceled: fc.boolean(),
})
const tick = fc.record({ act: fc.constant('quote' as const), price, spread: fc.nat(2) })
const candle = fc.record({ act: fc.constant('bar' as const), prices: fc.tuple(price, price, price, price) })
const rest = fc.record({ act: fc.constant('rest' as const), hours: fc.integer({ min: 1, max: 20 }) })
const acts = fc.array(fc.oneof(order, order, order, tick, tick, candle, rest), {
  minLength: 10,
  maxLength: 40,
})

test('books add up and closing orders only reduce', async () => {
  await fc.assert(
    fc.asyncProperty(acts, async (walk) => {
      const world = makeWorld(db, { commissionPlan: 'default' })
      const strategies = [await addStrategy(db), await addStrategy(db)]
      const { symbol, id: instrumentId } = await addInstrument(db)
      const worker = createWorker({ ctx: world.ctx, steps })
      for (const step of walk) {
        world.clock.time += 60_000
        const at = world.clock.time
        if (step.act === 'rest') world.clock.time += step.hours * hour
        if (step.act === 'quote') {
          await publishQuotes(world.ctx, [
            quote(symbol, step.price, String(Number(step.price) + step.spread), at),
          ])
        }
        if (step.act === 'bar') {
          const [open, close, a, b] = step.prices
          const all = step.prices.map(Number)
          const low = String(Math.min(...all, Number(a)))
          await publishBars(world.ctx, [
            bar(symbol, [open, String(Math.max(...all, Number(b))), low, close], at, at + 30_000),
          ])
        }
        if (step.act === 'order') {
          const strategyId = strategies[step.strategy]!
          const { quantity: held } = await readBook(world, strategyId, instrumentId)
          const isAgainst = Math.sign(held) === (step.side === '1' ? -1 : 1)
          await place(world, {
            ...step,
            strategyId,
            instrumentId,
            positionEffect: isAgainst ? 'C' : 'O',
            ...(step.kind !== 'market' && { [step.kind]: step.price }),
          })
        }
        await worker.drain()
      }
      expect(await auditViolations(db.read)).toEqual([])
      const grown = await db.read.rows`
        select f.exec_id from fill f join signal s on s.id = f.signal_id
        join signal_event e on e.signal_id = s.id and e.cause ->> 'execId' = f.exec_id
        cross join lateral (select (e.cause ->> 'positionBefore')::numeric * case f.side when '1' then 1 else -1 end) b (before)
        where s.position_effect = 'C' and (b.before >= 0 or -b.before < f.quantity)
          or s.position_effect = 'O' and b.before < 0`
      expect(grown).toEqual([])
    }),
    { numRuns: 15 },
  )
}, 120_000)
