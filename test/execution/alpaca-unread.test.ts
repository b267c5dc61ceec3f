/** What Alpaca's streams say while nobody can take it in: so much of it is kept, and the rest is asked for. */
import { expect, test } from 'vitest'
import type { Client } from '../../src/execution/brokers/alpaca/client.ts'
import { Following, unreadMax } from '../../src/execution/brokers/alpaca/following.ts'
import { testDatabase } from '../support/database.ts'
import { makeWorld } from './world.ts'

const { db } = await testDatabase()
const { ctx } = makeWorld(db)

test('what is beyond the limit is read from the history, and asked for of the orders that live', async () => {
  let say = (_update: unknown): void => undefined
  const stream = {
    onStateChange: () => undefined,
    onTradeUpdate: (hears: typeof say) => {
      say = hears
    },
    on: () => undefined,
    subscribeTradeUpdates: () => undefined,
    connect: () => undefined,
    disconnect: () => undefined,
  }
  const client = { stream: () => stream } as unknown as Client
  const of = async () => [Promise.resolve({ accountId: 1, brokerId: 1, client })]
  const following = new Following('unread', { of }, () => true)
  const [follow, hear, catchUp] = following.steps()
  await follow!.run(ctx)
  for (let said = 0; said < unreadMax; said += 1) say({})
  expect([hear!.due(0), catchUp!.due(0)]).toEqual([true, false])
  say({})
  expect(catchUp!.due(0)).toBe(true)
  await following.close()
})
