/** A holder cancels an order over FIX whose replacement the exchange has and has not answered. */
import { describe, expect, test } from 'vitest'
import { accountSteps } from '../../src/execution/account-side.ts'
import { sendOrders } from '../../src/execution/mirror/sender.ts'
import { connection, type FixWorld, makeFixWorld, missing, until } from './fix-world.ts'
import { cancelByHolder } from './holder-cancels.ts'
import { endSignal } from './world.ts'

const { world, db, exchange, worked, scene, expireClaims } =
  missing === null ? await makeFixWorld() : ({} as FixWorld)

describe.skipIf(missing !== null)('over FIX', () => {
  test.each([0, 1])('neither goes on when he cancels number %i', async (place) => {
    const one = await scene()
    const { accountId, setupId, order, orders, reaches, id, held } = one
    await db.write.run`update account set is_sync_enabled = false where id = ${accountId}`
    await exchange.tell('mode ack')
    const signal = await order('1', '10', { limit: '90' })
    await reaches('0')
    await exchange.tell(`fill ${await id()} 3 90`)
    await reaches('1')
    await world.worker.up()
    const at = world.worker.clock.time
    await endSignal(db.write, signal, '5', new Date(at).toISOString())
    const next = await order('1', '10', { limit: '91', replaces: signal })
    await db.write.run`update signal set needs_match = false where id = ${next}`
    const { ctx, broker } = world.worker
    const steps = accountSteps({ [connection]: broker })
    await steps.find(({ name }) => name === 'mirrorSignals')!.run(ctx)
    // The exchange answers, and nobody has applied it yet.
    await sendOrders(ctx, connection, broker)
    expect(await orders()).toMatchObject([{ status: 'E' }, { status: 'A', attempts: 1 }])
    await cancelByHolder(db, { setupId, at }, place)
    await until(
      worked(async () => {
        await expireClaims()
        world.worker.clock.time += 60_001
        return (await orders()).every(({ status }) => status === '4' || status === '5')
      }),
    )
    expect(await orders()).toMatchObject([
      { status: '5', cumQty: 3, pendingAction: null },
      { status: '4', cumQty: 3, pendingAction: null },
    ])
    expect(await held()).toBe(3)
    const book = (await exchange.tell('book')).split(' ')
    expect(book.filter((entry) => /:[01]:/.test(entry))).toEqual([])
  })
})
