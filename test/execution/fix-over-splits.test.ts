/** Orders over FIX that work on over a split, at an exchange that goes on in its old units. */
import { describe, expect, test } from 'vitest'
import { dec } from '../../src/domain/decimal.ts'
import { minute } from '../../src/domain/time.ts'
import { bookActions } from '../../src/execution/orders/corporate-actions.ts'
import { enterActions } from '../../src/execution/orders/enter-actions.ts'
import { reconcile } from '../../src/execution/reports/reconciliation.ts'
import { instant } from '../../src/storage/database/wire.ts'
import { connection, type FixWorld, makeFixWorld, missing, until } from './fix-world.ts'
import { endSignal, opening } from './world.ts'

const { world, db, exchange, brokerId, worked, scene } =
  missing === null ? await makeFixWorld() : ({} as FixWorld)
const day = 86_400_000

/** A copy of 10 of which 4 are executed at 50, and what was said of that execution. */
async function partlyFilled() {
  world.worker.clock.time = opening
  const one = await scene()
  await db.write.run`update account set is_sync_enabled = false where id = ${one.accountId}`
  await exchange.tell('mode ack')
  const signal = await one.order('1', '10', { limit: '50' })
  await one.reaches('0')
  const fill = async (quantity: number, px: number, place = 0): Promise<string> => {
    await exchange.tell(`fill ${await one.id(place)} ${quantity} ${px}`)
    return exchange.events.findLast((event) => event.startsWith('execution '))?.slice(10) ?? ''
  }
  const counts = (cumQty: number, place = 0): Promise<void> =>
    until(worked(async () => (await one.orders())[place]?.cumQty === cumQty))
  const execId = await fill(4, 50)
  await counts(4)
  const split = async (): Promise<void> => {
    // The exchange has a clock of its own.
    await db.write.run`
      update account_order set ended_at = ${instant(opening)}::timestamptz
      where account_id = ${one.accountId} and ended_at is not null`
    await db.write.run`
      update execution set executed_at = ${instant(opening)}::timestamptz where account_id = ${one.accountId}`
    world.worker.clock.time = opening + day
    const { ctx } = world.worker
    const action = { kind: 'split', symbol: one.symbol, day: '2024-03-13', new: dec(2), old: dec(1) } as const
    await enterActions(ctx, [action])
    await bookActions(ctx)
    await world.worker.drain()
  }
  /** Asks the exchange for some minutes; answers what was made up or told of this account's orders. */
  const asked = async (): Promise<string[]> => {
    const { ctx, clock, broker } = world.worker
    for (let minutes = 0; minutes < 4; minutes += 1) {
      clock.time += minute + 1
      await reconcile(ctx, connection, broker, true)
      await world.worker.drain()
    }
    const rows = await db.read.rows<{ kind: string }>`
      select kind from incident where (detail->>'accountId')::bigint = ${one.accountId}
        and kind in ('InferredFill', 'MissingExecutions', 'MalformedReport')`
    return rows.map(({ kind }) => kind)
  }
  return { ...one, signal, execId, fill, counts, split, asked }
}

describe.skipIf(missing !== null)('over a split, at an exchange that counts in old units', () => {
  test('fills, answers, busts and the end of an order leave one truth', async () => {
    const { fill, counts, split, asked, execId, signal, reaches, held, orders } = await partlyFilled()
    await split()
    await counts(8)
    expect(await asked()).toEqual([])
    await fill(3, 25)
    await counts(11)
    expect([await asked(), await held()]).toEqual([[], 11])
    await exchange.tell(`bust ${execId}`)
    await counts(3)
    expect([await asked(), await held()]).toEqual([[], 3])
    await endSignal(db.write, signal, '4', new Date(world.worker.clock.time).toISOString())
    await reaches('4')
    expect(await orders()).toMatchObject([{ status: '4', cumQty: 3, orderQty: 20 }])
    expect(await held()).toBe(3)
  })

  test.each([false, true])(
    'what a replacement carries on is no fill of its own (restated: %s)',
    async (isRestated) => {
      const one = await partlyFilled()
      const { split, asked, counts, fill, signal, order, reaches, held, id, accountId, account } = one
      await endSignal(db.write, signal, '5', new Date(world.worker.clock.time).toISOString())
      await order('1', '10', { limit: '51', replaces: signal })
      await reaches('1', 1)
      await split()
      await counts(8, 1)
      const { ctx, broker } = world.worker
      const names = [{ accountId, account, clientOrderId: await id(1) }]
      if (isRestated) await fill(4, 0.01, 1)
      const [standing] = await broker.find(ctx, brokerId, names)
      expect(standing).toMatchObject({ status: '1', cumQty: '0' })
      if (isRestated) return
      expect([await asked(), await held()]).toEqual([[], 8])
      await fill(3, 25, 1)
      await counts(11, 1)
      expect([await asked(), await held()]).toEqual([[], 11])
    },
  )
})
