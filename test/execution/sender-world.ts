/** What the tests of the sender start from: copies that wait to be sent, and brokers whose calls are changed. */
import type { Broker } from '../../src/execution/brokers/broker.ts'
import type { Database } from '../../src/storage/database/database.ts'
import { addBroker, addFollowers } from '../support/followers.ts'
import { makeAccountWorld } from './account-world.ts'
import { addInstrument, addStrategy, place } from './world.ts'

export function makeSenderWorld(db: Database) {
  const world = makeAccountWorld(db)
  const { ctx, paper } = world

  /** A futures market with a fresh quote, one follower per account, a broker of its own. */
  async function scene(count = 1) {
    const brokerId = await addBroker(db)
    const strategyId = await addStrategy(db)
    const { id: instrumentId, symbol } = await addInstrument(db, { securityType: 'FUT' })
    const setupIds = await addFollowers(db, { strategyId, brokerId, count })
    await world.quote(symbol, '99', '100')
    const buy = (quantity = '4', limit?: string) =>
      place(world, { strategyId, instrumentId, side: '1', quantity, ...(limit && { limit }) })
    const sell = (quantity = '4') =>
      place(world, { strategyId, instrumentId, side: '2', quantity, positionEffect: 'C' })
    return { brokerId, strategyId, instrumentId, symbol, setupIds, setupId: setupIds[0] ?? 0, buy, sell }
  }

  /** Mirrors what was placed before it has met the last quote. */
  const mirror = async () => {
    const waiting = await db.write.rows<{ id: number }>`
      update signal set needs_match = false where needs_match returning id`
    const moved = await world.steps.find(({ name }) => name === 'mirrorSignals')!.run(ctx)
    await db.write
      .run`update signal set needs_match = true where id = any(${waiting.map(({ id }) => id)}::bigint[])`
    return moved
  }

  /** What the paper broker ever accepted: one row per client order id by its key. */
  const accepted = async (setupIds: readonly number[]): Promise<number> =>
    (
      await db.read.one<{ count: number }>`
      select count(*)::int as count from paper_order p join setup s on s.account_id = p.account_id
      where s.id = any(${setupIds}::bigint[])`
    ).count

  const expireClaims = () => db.write.run`
    update account_order set claimed_until = clock_timestamp() - interval '1 second' where claimed_until is not null`

  /** The broker with some of its calls changed, and a record of the client order ids that each call carried. */
  function spy(changes: (calls: Broker) => Partial<Broker> = () => ({})): {
    broker: Broker
    placed: string[]
  } {
    const placed: string[] = []
    const changed = { ...paper.broker, ...changes(paper.broker) }
    const broker: Broker = {
      ...changed,
      place: (own, brokerId, tickets, until) => {
        placed.push(...tickets.map(({ clientOrderId }) => clientOrderId))
        return changed.place(own, brokerId, tickets, until)
      },
    }
    return { broker, placed }
  }

  return { ...world, scene, mirror, accepted, expireClaims, spy }
}
