import fc from 'fast-check'
import { describe, expect, test } from 'vitest'
import { dec } from '../../../domain/decimal.ts'
import { formatSymbol } from '../../../domain/market/symbol.ts'
import type { OrderTicket } from '../broker.ts'
import { type AlpacaInstrument, requestOf, symbolOf } from './tickets.ts'

const ticket = (more: Partial<OrderTicket>): OrderTicket => ({
  accountId: 1,
  account: 'A1',
  clientOrderId: 'LST-1-S1-0',
  instrumentId: 1,
  symbol: 'AAPL',
  side: '1',
  ordType: '1',
  timeInForce: '0',
  positionEffect: 'O',
  quantity: '6',
  limitPx: null,
  stopPx: null,
  ...more,
})
const stock: AlpacaInstrument = { securityType: 'CS', currency: 'USD' }
const option: AlpacaInstrument = { securityType: 'OPT', currency: 'USD' }
const call = { symbol: 'MSFT1220J30.5' }
const named = { clientOrderId: 'LST-1-S1-0', symbol: 'AAPL', qty: '6' }

describe('an order in Alpaca’s words', () => {
  test.each<[string, Partial<OrderTicket>, AlpacaInstrument, object]>([
    ['a market order', {}, stock, { ...named, side: 'buy', type: 'market', timeInForce: 'day' }],
    [
      'a limit order that stays',
      { side: '2', ordType: '2', limitPx: '50.500000', timeInForce: '1', quantity: '6.00000000' },
      stock,
      { ...named, side: 'sell', type: 'limit', timeInForce: 'gtc', limitPrice: '50.5' },
    ],
    [
      'a stop order',
      { side: '2', ordType: '3', stopPx: '0.1234', positionEffect: 'C' },
      stock,
      { ...named, side: 'sell', type: 'stop', timeInForce: 'day', stopPrice: '0.1234' },
    ],
    [
      'an option, by its OCC symbol and with its intent',
      { ...call, side: '2', positionEffect: 'C' },
      option,
      {
        ...named,
        symbol: 'MSFT121020C00030500',
        side: 'sell',
        type: 'market',
        timeInForce: 'day',
        positionIntent: 'sell_to_close',
      },
    ],
  ])('%s', (_, more, instrument, expected) => {
    expect(requestOf(ticket(more), instrument)).toEqual(expected)
  })
})

describe('what Alpaca cannot take is refused before it is sent', () => {
  test.each<[string, Partial<OrderTicket>, AlpacaInstrument | undefined, RegExp]>([
    ['an instrument that is not known', {}, undefined, /US stocks and options/],
    ['a future', { symbol: '@ESM26' }, { securityType: 'FUT', currency: 'USD' }, /US stocks and options/],
    ['a pair', { symbol: 'EURUSD' }, { securityType: 'FOR', currency: 'USD' }, /US stocks and options/],
    ['a stock in another currency', {}, { securityType: 'CS', currency: 'EUR' }, /US stocks and options/],
    ['a stop order for an option', { ...call, ordType: '3', stopPx: '1' }, option, /no stop orders/],
    ['an option order that stays', { ...call, timeInForce: '1' }, option, /day orders alone/],
    ['a part of a share', { quantity: '1.5' }, stock, /whole quantities/],
    ['nothing', { quantity: '0' }, stock, /whole quantities/],
    ['less than nothing', { quantity: '-1' }, stock, /whole quantities/],
    ['a limit order without its price', { ordType: '2' }, stock, /limit price/],
    ['a market order with a price', { limitPx: '5' }, stock, /limit price/],
    ['a stop order without its price', { ordType: '3' }, stock, /stop price/],
    ['a price between cents', { ordType: '2', limitPx: '1.001' }, stock, /in cents/],
    ['a price between hundredths of a cent', { ordType: '2', limitPx: '0.99999' }, stock, /in cents/],
    ['a price of nothing', { ordType: '2', limitPx: '0' }, stock, /in cents/],
    ['a strike that OCC cannot write', { symbol: 'MSFT1220J30.5001' }, option, /no symbol/],
  ])('%s', (_, more, instrument, expected) => {
    expect(requestOf(ticket(more), instrument)).toEqual({ refusal: expect.stringMatching(expected) })
  })
})

test('an option’s symbol comes back as it went out', () => {
  const root = fc.stringMatching(/^[A-Z]{1,6}$/)
  const day = fc.record({ year: fc.integer({ min: 10, max: 99 }), month: fc.integer({ min: 1, max: 12 }) })
  fc.assert(
    fc.property(
      root,
      day,
      fc.boolean(),
      fc.integer({ min: 1, max: 9_999_999 }),
      (name, on, isCall, mills) => {
        const expiry = `20${on.year}-${String(on.month).padStart(2, '0')}-17`
        const parts = {
          root: name,
          expiry,
          putOrCall: isCall ? '1' : '0',
          strike: dec(mills).dividedBy(1000),
        }
        const symbol = formatSymbol({ securityType: 'OPT', ...parts } as Parameters<typeof formatSymbol>[0])
        const request = requestOf(ticket({ symbol }), option)
        expect('symbol' in request && symbolOf(request.symbol)).toBe(symbol)
      },
    ),
  )
})

test('a stock’s symbol stays what it is', () => {
  expect(['AAPL', 'BRK.B', 'A'].map(symbolOf)).toEqual(['AAPL', 'BRK.B', 'A'])
})
