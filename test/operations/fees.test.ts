/** Fees on what followers gain: what is charged, when, once, and who earns it. */
import { beforeEach, describe, expect, test } from 'vitest'
import { retryCharges } from '../../src/storage/billing/charges.ts'
import { setSwitch } from '../../src/storage/work/switches.ts'
import { testPlatform } from '../support/platform.ts'
import { gainsOf } from './support/gains.ts'
import { at, type Citizen } from './support/money.ts'

const platform = await testPlatform()
const { db } = platform
const { door, passTo, charges, balances, audit, quote, begin, setFee, trade, start, follow, stop } =
  gainsOf(platform)

let owner: Citizen
let customer: Citizen
let guest: Citizen
let strategyId = 0
beforeEach(async () => {
  ;({ owner, customer, guest, strategyId } = await begin())
})

describe('the fee on gains', () => {
  test('is not charged where a broken price makes it larger than any, which holds up nobody’s', async () => {
    await follow(customer, 'U1')
    await follow(guest, 'U2', 'live', 1)
    await trade('1', 100)
    await quote(999_999_999_999)
    await passTo(30)
    const guests = { person: guest.personId, amount: 19_999_999_997_980, status: 'paid', at: '04-11' }
    expect(await charges('performance')).toEqual([guests])
    const told = [{ kind: 'feeTooLarge' }]
    expect(await db.read.rows`select kind from incident`).toEqual(told)
    // An operator who has ended it is told of the next term, too. It ends on a Saturday.
    await passTo(62)
    expect(await db.read.rows`select kind from incident`).toEqual([...told, ...told])
    await quote(110)
    await passTo(90)
    const customers = { person: customer.personId, amount: 20_000, status: 'paid', at: '06-10' }
    expect(await charges('performance')).toEqual([guests, customers])
    await audit()
  })

  test('is charged at the end of a term, on what exceeds every earlier height', async () => {
    await follow(customer, 'U1')
    await trade('1', 100)
    await quote(110)
    expect(await charges('performance')).toEqual([])
    await passTo(30)
    const first = { person: customer.personId, amount: 20_000, status: 'paid', at: '04-11' }
    expect(await charges('performance')).toEqual([first])
    await quote(104)
    await passTo(60)
    expect(await charges('performance')).toHaveLength(1)
    await passTo(63)
    await quote(115)
    await passTo(90)
    const third = { ...first, amount: 10_000, at: '06-10' }
    expect(await charges('performance')).toEqual([first, third])
    expect(await balances()).toEqual({ customer: 0, owner: 21_000, platform: 9_000, provider: -30_000 })
    await passTo(120)
    expect(await charges('performance')).toHaveLength(2)
    // What stops in a later term is settled with that term.
    await quote(125)
    await stop('U1')
    await quote(125)
    await passTo(150)
    expect(await charges('performance')).toEqual([first, third, { ...first, amount: 20_000, at: '08-09' }])
    await audit()
  })

  test('is asked of dividends too', async () => {
    await follow(customer, 'U1')
    await trade('1', 100)
    await door('/corporate-actions', [{ kind: 'dividend', symbol: 'AAPL', date: '2024-03-13', amount: 5 }])
    await passTo(31)
    expect(await charges('performance')).toMatchObject([{ amount: 10_000 }])
    await audit()
  })

  test('is nobody’s who follows on paper, simulated or owns the strategy', async () => {
    await follow(owner, 'O1')
    await door('/accounts', [{ account: 'P1', personId: guest.personId, kind: 'paper', cash: 50_000 }])
    await door('/subscriptions', [{ personId: guest.personId, strategyId, kind: 'paper' }])
    await trade('1', 100)
    await quote(110)
    await passTo(31)
    expect(await charges('performance')).toEqual([])
    expect(await db.read.rows`select from fee_settlement`).toEqual([])
    await audit()
  })

  test('is that of the term’s beginning, and what was gained before is free', async () => {
    await setFee(0)
    await follow(customer, 'U1')
    await trade('1', 100)
    await setFee(50)
    await quote(110)
    await passTo(30)
    expect(await charges('performance')).toEqual([])
    await setFee(10)
    await quote(120)
    await passTo(63)
    expect(await charges('performance')).toMatchObject([{ amount: 50_000 }])
    await quote(130)
    await passTo(90)
    expect(await charges('performance')).toMatchObject([{ amount: 50_000 }, { amount: 10_000 }])
    await audit()
  })

  test('is settled once more for what stopped in the term, also when the term is the last', async () => {
    await follow(customer, 'U1')
    await trade('1', 100)
    await quote(120)
    await stop('U1', true)
    await quote(120)
    await quote(90)
    await passTo(31)
    expect(await charges('performance')).toMatchObject([{ amount: 40_000, status: 'paid' }])
    await passTo(100)
    expect(await charges('performance')).toHaveLength(1)
    const incidents = await db.read.rows<{ kind: string }>`select kind from incident`
    expect(incidents.filter(({ kind }) => kind.startsWith('paid'))).toEqual([])
    await audit()
  })

  test('is given up where the last term is over and nobody pays it: the subscription stays ended', async () => {
    await follow(customer, 'U1')
    await trade('1', 100)
    await quote(120)
    await stop('U1', true)
    await door('/payment-methods', [{ personId: customer.personId, declines: 'card expired' }])
    await passTo(60)
    expect(await charges('performance')).toMatchObject([{ amount: 40_000, status: 'failed' }])
    const standing = await db.read.rows`select status, billing_failures as failures from subscription`
    expect(standing).toEqual([{ status: 'ended', failures: 5 }])
    // It is owed all the same: who can pay at last is asked once more.
    await door('/payment-methods', [{ personId: customer.personId }])
    const { id } = await db.read.one<{ id: number }>`select id from subscription`
    expect(await retryCharges(db.write, id, Date.parse(at(61)))).toBe(true)
    await passTo(61)
    expect(await charges('performance')).toMatchObject([{ amount: 40_000, status: 'paid' }])
    const settled = await db.read.rows`select status, billing_failures as failures from subscription`
    expect(settled).toEqual([{ status: 'ended', failures: 0 }])
    expect(await db.read.rows`select kind from incident`).toEqual([])
    await audit()
  })

  test('of an earlier term that is still to be tried again is asked for after the last one too', async () => {
    await follow(customer, 'U1')
    await trade('1', 100)
    await quote(120)
    await door('/payment-methods', [{ personId: customer.personId, declines: 'card expired' }])
    await passTo(30)
    // As a provider leaves it who answers weeks later.
    await db.write.run`update charge set next_try_at = next_try_at + interval '30 days' where status = 'due'`
    await stop('U1', true)
    await passTo(60)
    expect(await db.read.rows`select status from subscription`).toEqual([{ status: 'ended' }])
    expect(await charges('performance')).toMatchObject([{ amount: 40_000, status: 'due' }])
    await door('/payment-methods', [{ personId: customer.personId }])
    await passTo(61)
    expect(await charges('performance')).toMatchObject([{ amount: 40_000, status: 'paid' }])
    await audit()
  })

  test('is settled once more where a broker tells only after the term that what stopped was closed in it', async () => {
    await follow(customer, 'U1')
    await trade('1', 100)
    await passTo(29)
    await quote(130)
    await door('/broker', { hold: true })
    await stop('U1')
    await quote(130)
    await quote(120)
    await passTo(30)
    const known = { person: customer.personId, amount: 40_000, status: 'paid', at: '04-11' }
    expect(await charges('performance')).toEqual([known])
    await passTo(31)
    await door('/broker', { hold: false })
    await passTo(60)
    expect(await charges('performance')).toEqual([known, { ...known, amount: 20_000, at: '05-11' }])
    await audit()
  })

  test('is none of what positions gain that were left open at the stop, once that is settled', async () => {
    await follow(customer, 'U1')
    await trade('1', 100)
    await quote(120)
    await stop('U1', false, true)
    await passTo(31)
    await quote(150)
    await passTo(61)
    expect(await charges('performance')).toMatchObject([{ amount: 40_000, status: 'paid' }])
  })

  test('is not charged of a gain that makes up for a loss before a stop, in this term or an earlier one', async () => {
    await follow(customer, 'U1')
    await trade('1', 100)
    await quote(90)
    await stop('U1')
    await quote(90)
    await start('U1')
    await quote(96)
    await passTo(30)
    expect(await charges('performance')).toEqual([])
    await stop('U1')
    await passTo(31)
    await quote(96)
    await start('U1')
    await quote(103)
    await passTo(60)
    expect(await charges('performance')).toMatchObject([{ amount: 6_000, status: 'paid' }])
    await audit()
  })

  test('is measured against where the last of several setups ended', async () => {
    await follow(customer, 'U1')
    await trade('1', 100)
    await quote(90)
    await stop('U1')
    await passTo(30)
    await quote(90)
    await start('U1')
    await quote(96)
    await passTo(59)
    await quote(96)
    await stop('U1')
    await quote(96)
    await passTo(63)
    await quote(96)
    await start('U1')
    await quote(103)
    await passTo(90)
    expect(await charges('performance')).toMatchObject([{ amount: 6_000, status: 'paid' }])
    await audit()
  })

  test('is one for all accounts of a subscription', async () => {
    await follow(customer, 'U1')
    await follow(customer, 'U2', 'live', 50)
    await trade('1', 100)
    await quote(110)
    await passTo(30)
    expect(await charges('performance')).toMatchObject([{ amount: 30_000, status: 'paid' }])
    await audit()
  })

  test('waits for a rate of its currency, also where the setup has stopped; what passes free needs none', async () => {
    const sellAt = async (price: number) => {
      await quote(price)
      await stop('E1')
      await quote(price)
    }
    await setFee(0)
    await follow(customer, 'E1', 'live', 100, { currency: 'EUR' })
    await trade('1', 100)
    await sellAt(104)
    await passTo(29)
    await setFee(20)
    await passTo(30)
    await quote(104)
    await start('E1')
    await quote(104)
    await passTo(34)
    await sellAt(110)
    await passTo(62)
    expect(await charges('performance')).toEqual([])
    await door('/instruments', [{ symbol: 'EURUSD', securityType: 'FOR', calendar: 'FOREX' }])
    await door('/quotes', [{ symbol: 'EURUSD', bid: 1.1, ask: 1.1 }])
    await passTo(91)
    expect(await charges('performance')).toMatchObject([{ amount: 13_200, status: 'paid' }])
    await audit()
  })

  // Asked of Stripe it would be refused for ever.
  test('is left for the next term where it is less than is collected', async () => {
    await follow(customer, 'U1', 'live', 1)
    await setSwitch(db.write, 'paymentProvider', 'stripe', Date.parse(at(0)))
    await trade('1', 100)
    await quote(102)
    await passTo(30)
    expect(await charges('performance')).toEqual([])
    await quote(102.5)
    await stop('U1')
    await quote(102.5)
    await passTo(60)
    expect(await charges('performance')).toMatchObject([{ amount: 50, status: 'due' }])
    await audit()
  })

  test('is owed where it is more than is collected, once, whatever the next term takes, and is told to the operator', async () => {
    await follow(customer, 'U1')
    await follow(customer, 'U2')
    await setSwitch(db.write, 'paymentProvider', 'stripe', Date.parse(at(0)))
    await trade('1', 100)
    await quote(25_100)
    await setFee(40)
    await passTo(30)
    const owed = { amount: 100_000_000, status: 'due' }
    expect(await charges('performance')).toMatchObject([owed])
    const told = [{ kind: 'feeNotCollected', amount: '1000000.00' }]
    const incidents = () => db.read.rows`select kind, detail ->> 'amount' as amount from incident`
    expect(await incidents()).toEqual(told)
    await passTo(63)
    expect(await charges('performance')).toMatchObject([owed])
    await quote(25_110)
    await passTo(93)
    expect(await charges('performance')).toMatchObject([owed, { amount: 80_000, status: 'due' }])
    expect(await incidents()).toEqual(told)
    await audit()
  })

  test('and what is less passes free where the next term has another percentage', async () => {
    await follow(customer, 'U1', 'live', 1)
    await setSwitch(db.write, 'paymentProvider', 'stripe', Date.parse(at(0)))
    await trade('1', 100)
    await quote(102)
    await setFee(40)
    await passTo(30)
    expect(await charges('performance')).toEqual([])
    await quote(104)
    await passTo(63)
    expect(await charges('performance')).toMatchObject([{ amount: 80 }])
    await audit()
  })

  test.each(['term', 'performance'])(
    'and a term that are declined at once count both, and %s that is given up suspends',
    async (givenUp) => {
      await door('/strategies', [{ strategyId, monthlyCost: 50 }])
      await follow(customer, 'U1')
      await trade('1', 100)
      await quote(110)
      await door('/payment-methods', [{ personId: customer.personId, declines: 'card expired' }])
      await passTo(30)
      const standing = () =>
        db.read
          .rows`select status, billing_failures as failures, billing_failure_reason as reason from subscription`
      const reason = 'card expired'
      expect(await standing()).toEqual([{ status: 'active', failures: 2, reason }])
      await db.write.run`update charge set attempts = 4 where purpose = ${givenUp} and status = 'due'`
      await passTo(31)
      expect(await standing()).toEqual([{ status: 'suspended', failures: 4, reason }])
      // The other one is paid, and what was given up is still owed.
      await door('/payment-methods', [{ personId: customer.personId }])
      await passTo(35)
      expect(await db.read.rows`select status from charge order by id desc limit 2`).toContainEqual({
        status: 'paid',
      })
      expect(await standing()).toMatchObject([{ status: 'suspended' }])
      await audit()
    },
  )

  test('that is declined is tried again, and never charged twice', async () => {
    await follow(customer, 'U1')
    await trade('1', 100)
    await quote(110)
    await door('/payment-methods', [{ personId: customer.personId, declines: 'card expired' }])
    await passTo(30)
    expect(await charges('performance')).toMatchObject([{ amount: 20_000, status: 'due' }])
    await door('/payment-methods', [{ personId: customer.personId }])
    await passTo(40)
    expect(await charges('performance')).toMatchObject([{ amount: 20_000, status: 'paid' }])
    expect(await balances()).toMatchObject({ customer: 0, provider: -20_000 })
    await audit()
  })
})
