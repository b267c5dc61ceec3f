import fc from 'fast-check'
import { describe, expect, test } from 'vitest'
import { dec } from '../decimal.ts'
import { dayLength } from '../time.ts'
import {
  type LedgerAccount,
  type PaidCharge,
  surplusOf,
  surplusReturned,
  type Transfer,
  transfersOf,
} from './ledger.ts'
import { type FeeSettlement, settleFee } from './performance-fee.ts'
import { decidePlanChange } from './plan-change.ts'
import { termEnd } from './subscription.ts'

const charge: PaidCharge = {
  price: { base: 10_000n, markup: 1_500n },
  personId: 7,
  ownerPersonId: 3,
  ownerPercent: 70,
  siteId: 2,
  provider: 'simulated',
}
const customer = { kind: 'customer', personId: 7 } as const

test('a payment comes from the provider and goes on to owner, site and platform', () => {
  expect(transfersOf(charge)).toEqual([
    { reason: 'payment', from: { kind: 'provider', provider: 'simulated' }, to: customer, amount: 11_500n },
    { reason: 'ownerShare', from: customer, to: { kind: 'owner', personId: 3 }, amount: 7_000n },
    { reason: 'siteMarkup', from: customer, to: { kind: 'site', siteId: 2 }, amount: 1_500n },
    { reason: 'platformShare', from: customer, to: { kind: 'platform' }, amount: 3_000n },
  ])
})

test('a plan has no owner: the platform and the site that adds to it earn it', () => {
  expect(
    transfersOf({ ...charge, ownerPersonId: null }).map(({ reason, amount }) => [reason, amount]),
  ).toEqual([
    ['payment', 11_500n],
    ['siteMarkup', 1_500n],
    ['platformShare', 10_000n],
  ])
})

const charges = fc.array(
  fc.record({
    price: fc.record({
      base: fc.bigInt({ min: 0n, max: 10n ** 9n }),
      markup: fc.bigInt({ min: 0n, max: 10n ** 9n }),
    }),
    personId: fc.integer({ min: 1, max: 5 }),
    ownerPersonId: fc.option(fc.integer({ min: 1, max: 5 })),
    ownerPercent: fc.integer({ min: 0, max: 100 }),
    siteId: fc.integer({ min: 1, max: 3 }),
    provider: fc.constantFrom('simulated', 'stripe'),
  }),
)

/** What stands in every account after the transfers. */
function balancesAfter(transfers: readonly Transfer[]): Map<string, bigint> {
  const balances = new Map<string, bigint>()
  const move = (account: LedgerAccount, amount: bigint): void => {
    const name = JSON.stringify(account)
    balances.set(name, (balances.get(name) ?? 0n) + amount)
  }
  for (const { from, to, amount } of transfers) {
    move(from, -amount)
    move(to, amount)
  }
  return balances
}

describe('what came beside what was asked for', () => {
  test.each([
    ['a refund', 0n, 0n, 'refund', 20n, 20n],
    ['a refund that is told of with the one before it', 20n, 0n, 'refund', 50n, 30n],
    ['a refund that was overtaken by a later one', 50n, 0n, 'refund', 20n, undefined],
    ['a refund after a dispute', 0n, 30n, 'refund', 20n, 20n],
    ['a dispute after a refund', 20n, 0n, 'dispute', 50n, 50n],
    ['a dispute after another', 0n, 20n, 'dispute', 20n, 20n],
    ['more than there is', 20n, 10n, 'dispute', 100n, 70n],
    ['what was given back already', 60n, 40n, 'dispute', 100n, undefined],
  ] as const)('is given back by %s', (_, refunded, lost, kind, amount, due) => {
    const transfer = surplusReturned('stripe', { amount: 100n, refunded, lost }, { kind, amount })
    expect(transfer?.amount).toBe(due)
    if (!transfer) return
    const all = balancesAfter([surplusOf('stripe', 100n), transfer])
    expect(all.get(JSON.stringify({ kind: 'surplus' }))).toBe(100n - transfer.amount)
  })
})

describe('whatever is paid', () => {
  test('all accounts together stand at zero, and so does every customer', () => {
    fc.assert(
      fc.property(charges, (paid) => {
        const balances = balancesAfter(paid.flatMap(transfersOf))
        expect([...balances.values()].reduce((sum, one) => sum + one, 0n)).toBe(0n)
        for (const [name, balance] of balances) if (name.includes('"customer"')) expect(balance).toBe(0n)
      }),
    )
  })

  test('providers alone stand below zero, by what was paid', () => {
    fc.assert(
      fc.property(charges, (paid) => {
        const balances = [...balancesAfter(paid.flatMap(transfersOf))]
        const provided = balances.filter(([name]) => name.includes('"provider"'))
        const total = paid.reduce((sum, { price }) => sum + price.base + price.markup, 0n)
        expect(-provided.reduce((sum, [, balance]) => sum + balance, 0n)).toBe(total)
        for (const [name, balance] of balances) expect(balance < 0n ? name : 'provider').toContain('provider')
      }),
    )
  })

  test('every amount is above zero', () => {
    fc.assert(fc.property(charges, (paid) => paid.flatMap(transfersOf).every(({ amount }) => amount > 0n)))
  })

  test('also terms, changes of plans and fees, one after the other: the owner has his share of the fees alone', () => {
    const step = fc.record({
      kind: fc.constantFrom('term', 'upgrade', 'fee'),
      amount: fc.bigInt({ min: 0n, max: 10n ** 6n }),
      day: fc.integer({ min: 0, max: 29 }),
    })
    fc.assert(
      fc.property(fc.array(step), fc.integer({ min: 0, max: 100 }), (steps, ownerPercent) => {
        let price = 0n
        let settled: FeeSettlement | null = null
        const paid = steps.map(({ kind, amount, day }): PaidCharge => {
          if (kind === 'fee') {
            const gain = { startedEquity: dec(1), gain: dec(`${amount}`) }
            settled = settleFee(settled, gain, dec('0.2'))
            const base = BigInt(settled.fee.times(100).toFixed(0))
            return { ...charge, price: { base, markup: 0n }, ownerPercent }
          }
          const plan = { ...charge, ownerPersonId: null, ownerPercent: 0 }
          const present = { price, from: 0, to: termEnd(0), days: 30 }
          const change = decidePlanChange(present, { price: amount, days: 30 }, day * dayLength)
          if (kind === 'term' || change.act === 'now') price = amount
          const cost = kind === 'term' ? amount : change.act === 'now' ? change.cost : 0n
          return { ...plan, price: { base: cost, markup: 0n } }
        })
        const balances = balancesAfter(paid.flatMap(transfersOf))
        expect([...balances.values()].reduce((sum, one) => sum + one, 0n)).toBe(0n)
        const fees = paid.filter(({ ownerPersonId }) => ownerPersonId !== null)
        const owned = fees.reduce((sum, fee) => sum + (fee.price.base * BigInt(ownerPercent)) / 100n, 0n)
        expect(balances.get(JSON.stringify({ kind: 'owner', personId: 3 })) ?? 0n).toBe(owned)
      }),
    )
  })
})
