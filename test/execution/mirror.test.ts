import { describe, expect, test } from 'vitest'
import { mirrorSignals } from '../../src/execution/mirror.ts'
import { testDatabase } from '../support/database.ts'
import { addBroker, addFollowers } from '../support/followers.ts'
import { addInstrument, addStrategy, makeWorld, place } from './world.ts'

const { db } = await testDatabase()
const world = makeWorld(db)
const broker = await addBroker(db)

interface Copies {
  orders: number
  quantity: number
  skips: string[] | null
}
const copiesOf = (signalId: number): Promise<Copies> => db.read.one<Copies>`
  select count(*)::int as orders, coalesce(sum(order_qty), 0)::float8 as quantity,
    (select array_agg(distinct code) from account_skip where signal_id = ${signalId}) as skips
  from account_order where source_id = ${signalId}`

describe('planning', () => {
  test('every follower gets one row', async () => {
    const strategyId = await addStrategy(db)
    const { id: instrumentId } = await addInstrument(db, { securityType: 'FUT' })
    await addFollowers(db, { strategyId, brokerId: broker, count: 20, scaling: 150 })
    await addFollowers(db, { strategyId, brokerId: broker, count: 20, scaling: 5 })
    const signal = await place(world, { strategyId, instrumentId, side: '1', quantity: '6' })
    await mirrorSignals(world.ctx, 16)
    expect(await copiesOf(signal)).toEqual({ orders: 20, quantity: 180, skips: ['RoundedToZero'] })
  })
})
