/** A subscription for paper accounts that becomes one for live accounts after its term, before its end is noticed. */
import { expect, test } from 'vitest'
import { subscribe } from '../../src/operations/subscribe.ts'
import { testPlatform } from '../support/platform.ts'
import { gainsOf } from './support/gains.ts'
import { day, start } from './support/money.ts'

const platform = await testPlatform()
const { db } = platform
const { passTo, charges, audit, quote, begin, trade, follow, stop, start: startAgain } = gainsOf(platform)

test.each([
  ['', false],
  [', also where an earlier setup has ended long ago', true],
])('what is gained in between is charged once, with the term that has begun%s', async (_, isAgain) => {
  const { customer, strategyId } = await begin()
  const { personId } = customer
  await follow(customer, 'U1')
  if (isAgain) await stop('U1')
  if (isAgain) await startAgain('U1')
  await trade('1', 100)
  await passTo(59)
  await db.write.run`update subscription set kind = 'paper'`
  const joins = { personId, strategyId, kind: 'paid', at: start + 60.5 * day } as const
  await db.transaction((tx) => subscribe(tx, joins))
  await quote(110)
  await passTo(61)
  expect(await charges('performance')).toEqual([])
  await passTo(121)
  expect(await charges('performance')).toEqual([
    { person: personId, amount: 20_000, status: 'paid', at: '06-10' },
  ])
  await audit()
})
