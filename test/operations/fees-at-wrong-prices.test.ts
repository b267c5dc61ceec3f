/** What a waiver does to the height above which gains are charged: a gain that was let go passes free, one that never was is none. */
import { beforeEach, expect, test } from 'vitest'
import { notePaidOtherwise, waiveCharge } from '../../src/storage/billing/by-hand.ts'
import { testPlatform } from '../support/platform.ts'
import { gainsOf } from './support/gains.ts'
import type { Citizen } from './support/money.ts'

const platform = await testPlatform()
const { db } = platform
const { door, passTo, charges, audit, quote, begin, setFee, trade, follow, start, stop } = gainsOf(platform)

let customer: Citizen
let strategyId = 0
beforeEach(async () => {
  ;({ customer, strategyId } = await begin())
})

/** What was bought at 100 stands at 1,000 as a term ends, and its fee is declined. */
async function settleWrongly(...accounts: string[]): Promise<void> {
  for (const account of accounts) await follow(customer, account)
  await trade('1', 100)
  await door('/payment-methods', [{ personId: customer.personId, declines: 'too much' }])
  await quote(1000)
  await passTo(30)
}

const waive = async (isWrongPrice: boolean, purpose = 'performance') => {
  const { id } = await db.read.one<{
    id: number
  }>`select min(id) as id from charge where purpose = ${purpose}`
  return db.transaction((tx) => waiveCharge(tx, { chargeId: id, isLookedUp: false, isWrongPrice }))
}
const pays = () => door('/payment-methods', [{ personId: customer.personId }])

test.each([
  ['let go has passed free: the height stays', false, []],
  ['made by a wrong price was none: what was gained is settled with the next term', true, [20_000]],
])('a fee that was %s', async (_, isWrongPrice, next) => {
  await settleWrongly('U1')
  expect(await waive(isWrongPrice)).toBe(isWrongPrice ? 'settledAnew' : 'waived')
  await pays()
  await quote(110)
  await passTo(63)
  const wrong = { amount: 1_800_000, status: 'waived' }
  const later = next.map((amount) => ({ amount, status: 'paid' }))
  expect(await charges('performance')).toMatchObject([wrong, ...later])
  await audit()
})

test('of several accounts, one of which was stopped since, is settled anew for all of them, though later', async () => {
  await settleWrongly('U1', 'U2')
  await quote(110)
  await stop('U2')
  expect(await waive(false)).toBe('waived')
  await passTo(63)
  expect(await charges('performance')).toMatchObject([{ amount: 3_600_000 }])
  expect(await waive(true)).toBe('settledAnew')
  expect([await waive(true), await waive(false)]).toEqual(['waivedBefore', 'waivedBefore'])
  // Noted as paid all the same, its gain would be paid for with the next term once more.
  const { id: chargeId } = await db.read.one<{ id: number }>`select id from charge`
  const said = { chargeId, at: 0, isLookedUp: false }
  expect(await db.transaction((tx) => notePaidOtherwise(tx, said))).toBe('noGain')
  await pays()
  await quote(120)
  await passTo(93)
  // 2,000 of the one that goes on, 1,000 of the other.
  expect(await charges('performance')).toMatchObject([
    { status: 'waived' },
    { amount: 60_000, status: 'paid' },
  ])
  await audit()
})

test.each([
  ['a fee was charged above it', 20, 1200, 63],
  ['the next term takes more', 40, 110, 31],
])('stands where %s', async (_, percent, price, days) => {
  await follow(customer, 'U9')
  await setFee(percent)
  await settleWrongly('U1')
  await quote(price)
  await passTo(days)
  const before = await charges('performance')
  expect(await waive(true)).toBe('settledSince')
  expect(await charges('performance')).toEqual(before)
  expect(await waive(false)).toBe('waived')
  await audit()
})

test('stands where a new subscription has begun, and what was gained until then has passed free', async () => {
  await settleWrongly('U1')
  await db.write.run`update subscription set is_cancel_pending = true`
  await passTo(61)
  await quote(110)
  await start('U1')
  expect(await waive(true)).toBe('settledSince')
  await audit()
})

test('is said of fees alone', async () => {
  await door('/strategies', [{ strategyId, monthlyCost: 50 }])
  await settleWrongly('U1')
  await passTo(31)
  await db.write.run`
    update charge set status = 'failed', next_try_at = null where purpose = 'term' and status = 'due'`
  const { id } = await db.read.one<{
    id: number
  }>`select id from charge where purpose = 'term' and status = 'failed'`
  const said = { chargeId: id, isLookedUp: false, isWrongPrice: true }
  expect(await db.transaction((tx) => waiveCharge(tx, said))).toBe('noFee')
})
