import fc from 'fast-check'
import { describe, expect, test } from 'vitest'
import { type Decimal, dec, zero } from '../decimal.ts'
import {
  applyFeeEvent,
  type Crystallisation,
  type FeeEvent,
  type FeeUnits,
  noFeeUnits,
} from './high-water-mark.ts'

/** `deposit 100`, `withdraw 50`, `value 120`, `crystallise`. */
function eventOf(text: string): FeeEvent {
  const [type, amount = '0'] = text.trim().split(' ')
  if (type === 'value') return { type, value: dec(amount) }
  if (type === 'deposit' || type === 'withdraw') return { type, amount: dec(amount) }
  return { type: 'crystallise' }
}

function run(story: readonly FeeEvent[], rate: Decimal): { holding: FeeUnits; settled: Crystallisation[] } {
  const settled: Crystallisation[] = []
  let holding = noFeeUnits
  for (const event of story) {
    const step = applyFeeEvent(holding, event, rate)
    holding = step.holding
    if (step.crystallisation) settled.push(step.crystallisation)
  }
  return { holding, settled }
}

const tell = (story: string, rate: string): string[] =>
  run(story.split(',').map(eventOf), dec(rate)).settled.map(
    ({ fee, valueAfter, highWaterMarkPerUnit }) =>
      `${fee} ${valueAfter} ${Number(highWaterMarkPerUnit.toFixed(12))}`,
  )

describe('crystallisations: fee, value after it, mark per unit', () => {
  // biome-ignore format: a table
  test.each<[string, string, string, string[]]>([
    ['a gain', 'deposit 1000, value 1200, crystallise', '0.2', ['40 1160 1.16']],
    ['no gain, no fee', 'deposit 1000, value 1000, crystallise', '0.2', ['0 1000 1']],
    ['a loss leaves the mark', 'deposit 1000, value 900, crystallise', '0.2', ['0 900 1']],
    ['only what is above the mark', 'deposit 1000, value 1200, crystallise, value 1100, crystallise, value 1260, crystallise', '0.2',
      ['40 1160 1.16', '0 1100 1.16', '20 1240 1.24']],
    ['twice in a row settles once', 'deposit 1000, value 1200, crystallise, crystallise', '0.2', ['40 1160 1.16', '0 1160 1.16']],
    ['nothing there', 'crystallise', '0.2', ['0 0 1']],
    ['without a rate the mark still moves', 'deposit 1000, value 1200, crystallise', '0', ['0 1200 1.2']],
    ['to the cent, half away from zero', 'deposit 1000, value 1000.05, crystallise', '0.1', ['0.01 1000.04 1.00004']],
    ['half a cent of uneven units', 'deposit 1000, value 1300, crystallise, deposit 700, value 1970.05, crystallise', '0.1',
      ['30 1270 1.27', '0.01 1970.04 1.270025786802']],
    ['a gain too small to charge moves the mark', 'deposit 1000, value 1000.02, crystallise', '0.1', ['0 1000.02 1.00002']],
  ])('%s', (_, story, rate, expected) => {
    expect(tell(story, rate)).toEqual(expected)
  })

  // biome-ignore format: a table
  test.each<[string, string, string[]]>([
    ['below the mark money comes and goes without a fee', 'deposit 1000, value 800, deposit 800, withdraw 400', []],
    ['new money pays only for its own gain', 'deposit 1000, value 1200, deposit 580, value 1914, crystallise',
      ['40 1160 1.16', '34.8 1879.2 1.2528']],
    ['new money below the mark is free up to it', 'deposit 1000, value 500, deposit 500, value 2000, crystallise', ['0 2000 1']],
    ['who leaves pays first', 'deposit 1000, value 1200, withdraw 580, value 600, crystallise',
      ['40 1160 1.16', '4 596 1.192']],
    ['who takes all takes what the fee leaves', 'deposit 1000, value 1200, withdraw 1200, crystallise', ['40 1160 1.16', '0 0 1.16']],
    ['what is left of a deposit on worthless units starts at the mark',
      'deposit 1000, value 1200, crystallise, value -100, deposit 332, value 250, crystallise', ['40 1160 1.16', '3.6 246.4 1.232']],
    ['a deposit that leaves no more than nothing starts nothing',
      'deposit 1000, value -300, deposit 100, value 1500, crystallise', ['100 1400 1.4']],
    ['nor one that leaves just nothing', 'deposit 1000, value -100, deposit 100, value 1500, crystallise', ['100 1400 1.4']],
    ['after all was taken the price goes on', 'deposit 1000, value 1200, withdraw 1160, deposit 116, value 126, crystallise',
      ['40 1160 1.16', '2 124 1.24']],
    ['a value of nobody is ignored', 'value 500, deposit 100, value 110, crystallise', ['2 108 1.08']],
    ['nothing left', 'deposit 1000, value 0, crystallise, deposit 500, value 600, crystallise', ['0 0 1', '20 580 1.16']],
    ['less than nothing', 'deposit 1000, value -100, withdraw 50, deposit 300, value 250, crystallise', ['10 240 1.2']],
    ['a debt that a deposit does not cover', 'deposit 1000, value -100, deposit 60, crystallise', ['0 -40 1']],
  ])('money in and out: %s', (_, story, expected) => {
    expect(tell(story, '0.2')).toEqual(expected)
  })
})

describe('laws', () => {
  const cents = (max: number) => fc.integer({ min: 1, max }).map((value) => dec(value).div(100))
  const event: fc.Arbitrary<FeeEvent> = fc.oneof(
    cents(100_000).map((amount) => ({ type: 'deposit' as const, amount })),
    cents(100_000).map((amount) => ({ type: 'withdraw' as const, amount })),
    cents(300_000).map((value) => ({ type: 'value' as const, value })),
    fc.constant({ type: 'crystallise' as const }),
  )
  const stories = fc.array(event, { maxLength: 25 })
  const rates = fc.integer({ min: 0, max: 50 }).map((value) => dec(value).div(100))

  test('a fee is whole cents, never negative, and never lowers the mark', () => {
    fc.assert(
      fc.property(stories, rates, (story, rate) => {
        let mark = dec(1)
        for (const { fee, highWaterMarkPerUnit } of run(story, rate).settled) {
          expect(fee.greaterThanOrEqualTo(0)).toBe(true)
          expect(fee.decimalPlaces()).toBeLessThanOrEqual(2)
          expect(highWaterMarkPerUnit.greaterThanOrEqualTo(mark)).toBe(true)
          mark = highWaterMarkPerUnit
        }
      }),
    )
  })

  test('money is never lost: value in = fees + what is there + what was taken', () => {
    fc.assert(
      fc.property(stories, rates, (story, rate) => {
        let holding = noFeeUnits
        for (const event of story) {
          const before = holding.units.times(holding.price)
          const step = applyFeeEvent(holding, event, rate)
          const after = step.holding.units.times(step.holding.price)
          const fee = step.crystallisation?.fee ?? zero
          holding = step.holding
          const owned = before.minus(fee)
          const expected =
            event.type === 'deposit'
              ? owned.plus(event.amount)
              : event.type === 'withdraw'
                ? owned.minus(event.amount.greaterThan(owned) ? owned : event.amount)
                : event.type === 'value' && !holding.units.isZero()
                  ? event.value
                  : owned
          expect(after.minus(expected).abs().toNumber()).toBeLessThan(1e-18)
        }
      }),
    )
  })

  test('settling in between never makes the same rise cheaper or dearer by more than the cents', () => {
    const path = fc.array(fc.integer({ min: 50_000, max: 300_000 }), { minLength: 1, maxLength: 10 })
    fc.assert(
      fc.property(path, (values) => {
        const rising = [...values].sort((a, b) => a - b)
        const rate = dec('0.2')
        const deposit: FeeEvent = { type: 'deposit', amount: dec(500) }
        // Growth between the values, so that a fee paid early is missing later in proportion only.
        const steps = rising.map((value, at) => value / (rising[at - 1] ?? 50_000))
        let holding = applyFeeEvent(noFeeUnits, deposit, rate).holding
        let paid = zero
        for (const grown of steps) {
          const value = holding.units.times(holding.price).times(dec(grown))
          holding = applyFeeEvent(holding, { type: 'value', value }, rate).holding
          const gain = value.minus(holding.mark.times(holding.units))
          const step = applyFeeEvent(holding, { type: 'crystallise' }, rate)
          paid = paid.plus(step.crystallisation!.fee)
          expect(step.crystallisation!.fee.minus(gain.times(rate)).abs().toNumber()).toBeLessThanOrEqual(
            0.005,
          )
          holding = step.holding
        }
        const earned = holding.units.times(holding.price).plus(paid).minus(500)
        expect(earned.times(rate).minus(paid).abs().toNumber()).toBeLessThanOrEqual(
          0.005 * values.length + 1e-9,
        )
      }),
    )
  })
})
