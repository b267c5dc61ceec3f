/** Accounts that have many orders to send do not keep those of others waiting: each has its turn. */
import { expect, test } from 'vitest'
import { sendOrders } from '../../src/execution/mirror/sender.ts'
import { testDatabase } from '../support/database.ts'
import { makeSenderWorld } from './sender-world.ts'

const { db } = await testDatabase()
const world = makeSenderWorld(db)
const { ctx, scene, mirror, spy } = world

/** More than one claim takes. */
const accounts = 250

test('the first order of every account goes out before the second of any', async () => {
  const { buy } = await scene(accounts)
  await buy('4', '50')
  await mirror()
  await buy('4', '51')
  await mirror()
  const { broker, placed } = spy()
  await sendOrders(ctx, 'paper', broker)
  const sent = placed.map((name) => name.split('-S')[0])
  expect(sent).toHaveLength(2 * accounts)
  expect(new Set(sent.slice(0, accounts)).size).toBe(accounts)
})
