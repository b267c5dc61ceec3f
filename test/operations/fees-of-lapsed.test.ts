/** What is gained while nothing is subscribed for live accounts is free of fees, also when they are subscribed again. */
import { beforeEach, describe, expect, test } from 'vitest'
import { call } from '../support/http.ts'
import { testPlatform } from '../support/platform.ts'
import { gainsOf } from './support/gains.ts'
import type { Citizen } from './support/money.ts'

const platform = await testPlatform()
const { db } = platform
const { door, passTo, charges, audit, quote, begin, setFee, trade, start, follow, stop } = gainsOf(platform)

let customer: Citizen
let strategyId = 0
beforeEach(async () => {
  ;({ customer, strategyId } = await begin())
})

describe('the fee on gains', () => {
  test('is none of what was gained without a subscription, also where the next one is paid', async () => {
    await door('/strategies', [{ strategyId, monthlyCost: 50 }])
    await follow(customer, 'U1')
    await follow(customer, 'U2')
    await trade('1', 100)
    await stop('U2', true)
    await passTo(31)
    await quote(110)
    await start('U1')
    await passTo(62)
    expect(await charges('term')).toHaveLength(3)
    expect(await charges('performance')).toEqual([])
    await audit()
  })

  test('is none of a live account that lapsed until it is started again, whatever a paper account opens', async () => {
    await follow(customer, 'U1')
    await follow(customer, 'U2', 'paper')
    await stop('U2', true)
    await passTo(31)
    await follow(customer, 'U3', 'paper')
    const held = async (account: string) => {
      const path = `/gen/Autotrade/GetAutoTradeOpenPositions?Account=${account}`
      return (await call(platform.url, path, { key: customer.key })).json
    }
    const skips = () =>
      db.read.rows`select a.account, s.code from account_skip s join setup on setup.id = s.setup_id
        join account a on a.id = setup.account_id`
    await quote(100)
    await trade('1', 100)
    expect(await held('U1')).toMatchObject({ Results: [] })
    expect(await held('U3')).toMatchObject({ Results: [{ Quantity: 100 }] })
    expect(await skips()).toEqual([{ account: 'U1', code: 'SubscriptionEnded' }])
    await passTo(31.1)
    expect(await held('U1')).toMatchObject({ Results: [] })
    await start('U1')
    await quote(100)
    await trade('1', 50)
    expect(await held('U1')).toMatchObject({ Results: [{ Quantity: 150 }] })
    await quote(110)
    await passTo(61)
    expect(await charges('performance')).toMatchObject([{ amount: 30_000, status: 'paid' }])
    await audit()
  })

  test('is none of what a live account gains that has lapsed while a paper account is subscribed', async () => {
    await follow(customer, 'U1')
    await trade('1', 100)
    await follow(customer, 'U2', 'paper')
    await stop('U2', true)
    await passTo(31)
    await follow(customer, 'U3', 'paper')
    await quote(110)
    await passTo(62)
    expect(await charges('performance')).toEqual([])
    expect(await db.read.rows`select gain::float8 as gain from fee_settlement`).toEqual([{ gain: 0 }])
    // What makes the paper subscription one for live accounts begins with what is there by then.
    await start('U1')
    await passTo(92)
    expect(await charges('performance')).toEqual([])
    await audit()
  })

  test('is none of what was gained before it was announced, also where the subscription has lapsed meanwhile', async () => {
    await setFee(0)
    await follow(customer, 'U1')
    await follow(customer, 'U2')
    await trade('1', 100)
    await quote(110)
    await stop('U2', true)
    await passTo(31)
    await setFee(20)
    await start('U1')
    await passTo(61)
    expect(await charges('performance')).toEqual([])
    await passTo(63)
    await quote(115)
    await passTo(91)
    expect(await charges('performance')).toMatchObject([{ amount: 10_000, status: 'paid' }])
    await audit()
  })
})
