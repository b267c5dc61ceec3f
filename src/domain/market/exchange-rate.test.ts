import { describe, expect, test } from 'vitest'
import { dec } from '../decimal.ts'
import { exchangeRate } from './exchange-rate.ts'

/** Account currency per unit, as pairs say it. */
const quoted: Record<string, string> = {
  'USD EUR': '1.25',
  'USD JPY': '0.008',
  'JPY USD': '125',
  'EUR GBP': '1.2',
  'USD GBP': '1.6',
}

const direct = (account: string, currency: string) => {
  const rate = quoted[`${account} ${currency}`]
  return rate === undefined ? undefined : dec(rate)
}

describe('the rate of a currency', () => {
  test.each([
    ['is one in itself', 'EUR', 'EUR', '1'],
    ['is that of the pair', 'USD', 'EUR', '1.25'],
    ['goes through the dollar where the two have no pair', 'JPY', 'EUR', '156.25'],
    ['prefers the pair', 'EUR', 'GBP', '1.2'],
    ['is not known without a way', 'CHF', 'EUR', undefined],
    ['nor without the other half of it', 'EUR', 'CHF', undefined],
  ])('%s', (_, account, currency, rate) => {
    expect(exchangeRate(account, currency, direct)?.toFixed()).toBe(rate)
  })
})
