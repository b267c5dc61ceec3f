/** A subscription that was never paid gives nothing, so nothing is taken of what is gained meanwhile. */
import { expect, test } from 'vitest'
import { savePaymentMethod } from '../../src/storage/billing/payment-methods.ts'
import { setSwitch } from '../../src/storage/work/switches.ts'
import { call } from '../support/http.ts'
import { testPlatform } from '../support/platform.ts'
import { feesOf } from './support/fee-scene.ts'
import { at } from './support/money.ts'

const platform = await testPlatform()
const { db, url } = platform
const { door, passTo, charges, audit, quote, begin, buy } = feesOf(platform)

test('a term whose first payment never came owes no fee, and the next one none of its gains', async () => {
  const { owner, customer, strategyId } = await begin()
  const { personId } = customer
  for (const account of ['U1', 'U2']) await door('/accounts', [{ account, personId, cash: 50_000 }])
  const follow = async (Account: string) => {
    const body = { Account, StrategyId: strategyId, StocksEnabled: true }
    expect((await call(url, '/gen/Autotrade/StartAutotrade', { key: customer.key, body })).status).toBe(200)
  }
  const stop = async (account: string) => {
    const whose = `Account=${account}&PersonId=${personId}&StrategyId=${strategyId}`
    const path = `/gen/Autotrade/StopAutotrade?${whose}&TerminateStrategySubscription=true`
    expect((await call(url, path, { method: 'DELETE', key: customer.key })).status).toBe(200)
  }
  await follow('U1')
  await follow('U2')
  await buy(owner, strategyId)
  await quote(100)
  await stop('U2')
  await passTo(31)
  // What the first account holds stays its own, and the next subscription waits for a provider that never answers.
  await setSwitch(db.write, 'paymentProvider', 'stripe', Date.parse(at(31)))
  const there = { provider: 'stripe', customerRef: 'cus_1', methodRef: 'pm_1' } as const
  await savePaymentMethod(db.write, { personId, at: Date.parse(at(31)), ...there })
  await follow('U2')
  await quote(150)
  await passTo(62)
  const ends = db.read.rows`select end_reason as reason from subscription order by id`
  expect(await ends).toEqual([{ reason: 'canceled' }, { reason: 'unpaid' }])
  expect(await charges('performance')).toEqual([])
  await setSwitch(db.write, 'paymentProvider', 'simulated', Date.parse(at(62)))
  await follow('U2')
  await quote(160)
  await passTo(93)
  expect(await charges('performance')).toMatchObject([{ amount: 20_000, status: 'paid' }])
  await audit()
})
