/** The amounts of the page on fees are those of the functions that charge, to the cent. */
import { readFileSync } from 'node:fs'
import { describe, expect, test } from 'vitest'
import {
  type ChainedSetup,
  type FeeSettlement,
  settleChain,
  settleFee,
} from '../../src/domain/billing/performance-fee.ts'
import { decidePlanChange } from '../../src/domain/billing/plan-change.ts'
import { sharesOf, totalOf } from '../../src/domain/billing/revenue.ts'
import { nextTry, type SubscriptionKind, strategyTermDays } from '../../src/domain/billing/subscription.ts'
import { type Decimal, dec, max, zero } from '../../src/domain/decimal.ts'
import { numberIn, type TableRow, tablesUnder, tableUnder, textOf } from './page.ts'

const day = 86_400_000
const [ownerPercent = ''] =
  /owner_share_percent integer DEFAULT (\d+)|owner_share_percent integer not null default (\d+)/i
    .exec(readFileSync('src/storage/migrations/0020_subscriptions.sql', 'utf8'))
    ?.slice(1)
    .filter((found) => found !== undefined) ?? []

const centsIn = (cell: string | undefined): bigint => BigInt(Math.round(numberIn(cell) * 100))
const dollars = (amount: Decimal): string => {
  const text = amount.abs().toFixed(2)
  return `${amount.isNegative() ? '-' : ''}$${text.replace(/\B(?=(\d{3})+(?!\d))/g, ',')}`
}
const ofCents = (cents: bigint): string => dollars(dec(cents).div(100))

test('the kinds of subscriptions, and their term', () => {
  const kinds: Readonly<Record<SubscriptionKind, null>> = { paid: null, paper: null, simulated: null }
  expect(tableUnder('fees', 'A subscription').map(({ Kind }) => Kind)).toEqual(Object.keys(kinds))
  expect(textOf('fees')).toContain(`A term is ${strategyTermDays} days`)
})

test.each(tableUnder('fees', 'Who gets it'))('a price of $Price with $Markup on top', (row) => {
  const price = { base: centsIn(row.Price), markup: centsIn(row.Markup) }
  const { owner, site, platform } = sharesOf(price, Number(ownerPercent))
  expect(textOf('fees')).toContain(`${ownerPercent} % of the price, rounded down`)
  expect(row).toMatchObject({
    'You pay': ofCents(totalOf(price)),
    Owner: ofCents(owner),
    Site: ofCents(site),
    Platform: ofCents(platform),
  })
})

const planIn = (cell = ''): { price: bigint; days: number } => {
  const [, price, days] = /^(\S+) for (\d+) days$/.exec(cell) ?? []
  return { price: centsIn(price), days: Number(days) }
}

test.each(tableUnder('fees', 'Plans'))('from $[Present plan] to $[New plan] on day $Day', (row) => {
  const { price, days } = planIn(row['Present plan'])
  const present = { price, days, from: 0, to: days * day }
  const change = decidePlanChange(present, planIn(row['New plan']), Number(row.Day) * day)
  const told =
    change.act === 'now'
      ? `${ofCents(change.cost)} now, until day ${change.to / day}`
      : `nothing now, begins on day ${days}`
  expect(row['Comes to']).toBe(told)
})

describe('a fee on gains', () => {
  const [terms = [], restarts = []] = tablesUnder('fees', 'A fee on gains')
  const rate = dec('0.2')
  const amountIn = (cell = ''): Decimal => dec(numberIn(cell.split(', ')[0]))

  test('term by term', () => {
    let before: FeeSettlement | null = null
    let highest = zero
    const told = terms.map((row): TableRow => {
      const gain = amountIn(row['Gain since the start'])
      const settled: FeeSettlement = settleFee(before, { startedEquity: dec(50_000), gain }, rate)
      const line = {
        Term: row.Term ?? '',
        'Gain since the start': dollars(gain),
        'Highest before': dollars(highest),
        'Above it': dollars(max(zero, gain.minus(highest))),
        Fee: dollars(settled.fee),
        'All fees': dollars(settled.fees),
      }
      before = settled
      highest = max(highest, gain)
      return line
    })
    expect(terms).toEqual(told)
  })

  test('over a stop and a new start', () => {
    const setups: (ChainedSetup & { name: string })[] = []
    let highest = zero
    const told = restarts.map((row, term): TableRow => {
      for (const name of ['First setup', 'Second setup']) {
        const cell = row[name] ?? ''
        if (cell === '') continue
        const known = setups.findIndex((setup) => setup.name === name)
        const isOver = name === 'First setup' && restarts.slice(0, term).some((earlier) => isStopped(earlier))
        const setup = {
          name,
          startedEquity: dec(50_000),
          gain: amountIn(cell),
          isDue: !isOver,
          isClosed: isOver,
          before: setups[known]?.before ?? null,
        }
        setups.splice(known < 0 ? setups.length : known, 1, setup)
      }
      const settled = settleChain(setups, rate)
      for (const { setup, settlement } of settled)
        setups.splice(setups.indexOf(setup), 1, { ...setup, before: { settledAt: term, ...settlement } })
      const together = setups.reduce((sum, { gain }) => sum.plus(gain), zero)
      const fee = settled.reduce((sum, { settlement }) => sum.plus(settlement.fee), zero)
      const line = {
        ...row,
        Together: dollars(together),
        'Highest before': dollars(highest),
        Fee: dollars(fee),
      }
      highest = max(highest, together)
      return line
    })
    expect(restarts).toEqual(told)
  })
})

const isStopped = (row: TableRow): boolean => row['First setup']?.endsWith(', stopped') === true

test('the tries of a payment', () => {
  const triesAfter = (failures: number, at: number): number[] => {
    const next = nextTry(failures, at)
    return [at / day, ...(next === undefined ? [] : triesAfter(failures + 1, next))]
  }
  const days = triesAfter(1, 0)
  const listed = tableUnder('fees', 'When a payment fails')
  expect(listed.map((row) => Number(row['Days after it was due']))).toEqual(days)
  expect(listed.map(({ Try }) => Number(Try))).toEqual(days.map((_, place) => place + 1))
  expect(listed.filter((row) => row.Declined?.includes('suspended'))).toEqual(listed.slice(-1))
})
