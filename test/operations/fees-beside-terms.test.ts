/** A fee and a term that were declined together and are paid one after the other. */
import { expect, test } from 'vitest'
import { call, resultsOf } from '../support/http.ts'
import { testPlatform } from '../support/platform.ts'
import { feesOf } from './support/fee-scene.ts'
import type { Citizen, Row } from './support/money.ts'

const platform = await testPlatform()
const { db, url } = platform
const { door, passTo, charges, audit, quote, ask, begin, buy } = feesOf(platform)

/** A subscriber of a month, whose fee on what he gained and whose next term are both declined. */
async function declineBoth(): Promise<Citizen> {
  const { owner, customer, strategyId } = await begin()
  const { personId } = customer
  await door('/accounts', [{ account: 'U1', personId, cash: 50_000 }])
  const wish = { Account: 'U1', StrategyId: strategyId, StocksEnabled: true }
  await ask('/gen/Autotrade/StartAutotrade', customer, wish)
  await buy(owner, strategyId)
  await quote(110)
  await door('/payment-methods', [{ personId, declines: 'card expired' }])
  await passTo(30)
  return customer
}

test.each([
  ['performance', 'term'],
  ['term', 'performance'],
])('the failures are counted until both are paid: %s first', async (first, last) => {
  const { personId, key } = await declineBoth()
  const failures = async () =>
    resultsOf<Row>(await call(url, `/geo/General/GetSubscribedStrategies?PersonId=${personId}`, { key })).map(
      ({ IsAlive, BillingFailureCount }) => ({ IsAlive, BillingFailureCount }),
    )
  const statusOf = async (purpose: string) => (await charges(purpose)).at(-1)?.status
  expect(await failures()).toEqual([{ IsAlive: true, BillingFailureCount: 2 }])
  // One message is of both, the fee of 200.00 and the term of 50.00.
  const told = platform.mails.splice(0).map(({ to, text }) => ({ to, text }))
  const says = 'has asked for 250.00 USD for Trend, and the payment was declined: card expired.'
  expect(told).toEqual([{ to: 'carl@example.org', text: expect.stringContaining(says) }])
  await db.write.run`
    update charge set next_try_at = next_try_at + interval '3 days' where status = 'due' and purpose = ${last}`
  await door('/payment-methods', [{ personId }])
  await passTo(31)
  expect([await statusOf(first), await statusOf(last)]).toEqual(['paid', 'due'])
  expect(await failures()).toEqual([{ IsAlive: true, BillingFailureCount: 2 }])
  await passTo(35)
  expect(await statusOf(last)).toBe('paid')
  expect(platform.mails).toEqual([])
  expect(await failures()).toEqual([{ IsAlive: true, BillingFailureCount: 0 }])
  await audit()
})
