import fc from 'fast-check'
import { describe, expect, test } from 'vitest'
import type { SecurityType } from '../codes.ts'
import { dec } from '../decimal.ts'
import { type Day, readDay } from '../time.ts'
import {
  expiryLabelOf,
  formatSymbol,
  guessSecurityType,
  isWithinCentury,
  maturityOf,
  parseExchangeSymbol,
  parseSymbol,
  rootOf,
  type SymbolParts,
  spellingsOf,
} from './symbol.ts'

const day = (text: string): Day => readDay(text) ?? Number.NaN
const today = day('2026-02-26')
const parse = (symbol: string, type: SecurityType, on = today): SymbolParts => {
  const parts = parseSymbol(symbol, type, on)
  if (typeof parts === 'string') throw new Error(`${symbol} was refused`)
  return parts
}

describe('native symbols', () => {
  test.each([
    ['AAPL', 'CS', 'AAPL', { securityType: 'CS', ticker: 'AAPL' }],
    ['BRK.B', 'CS', 'BRK.B', { securityType: 'CS', ticker: 'BRK.B' }],
    ['@ESM26', 'FUT', '@ESM26', { securityType: 'FUT', root: 'ES', year: 2026, month: 6 }],
    ['@ESM6', 'FUT', '@ESM26', { securityType: 'FUT', root: 'ES', year: 2026, month: 6 }],
    ['@6EH7', 'FUT', '@6EH27', { securityType: 'FUT', root: '6E', year: 2027, month: 3 }],
    ['@M2KZ26', 'FUT', '@M2KZ26', { securityType: 'FUT', root: 'M2K', year: 2026, month: 12 }],
    ['@10YF27', 'FUT', '@10YF27', { securityType: 'FUT', root: '10Y', year: 2027, month: 1 }],
    ['EURUSD', 'FOR', 'EURUSD', { securityType: 'FOR', base: 'EUR', quote: 'USD' }],
    ['EUR/USD', 'FOR', 'EURUSD', { securityType: 'FOR', base: 'EUR', quote: 'USD' }],
  ] as const)('%s (%s) is %s', (symbol, type, canonical, expected) => {
    const parts = parse(symbol, type)
    expect(parts).toEqual(expected)
    expect(formatSymbol(parts)).toBe(canonical)
  })

  test.each([
    ['MSFT1220J30.5', 'MSFT', '2012-10-20', '1', '30.5', 'MSFT1220J30.5'],
    ['BSRR2121Q22.5', 'BSRR', '2021-05-21', '0', '22.5', 'BSRR2121Q22.5'],
    ['MSFT1220J30.50', 'MSFT', '2012-10-20', '1', '30.5', 'MSFT1220J30.5'],
    ['SPY2619A600', 'SPY', '2026-01-19', '1', '600', 'SPY2619A600'],
    ['SPY2619X0.5', 'SPY', '2026-12-19', '0', '0.5', 'SPY2619X0.5'],
    ['BRK.B2620L450', 'BRK.B', '2026-12-20', '1', '450', 'BRK.B2620L450'],
    ['AAPL12620C100', 'AAPL1', '2026-03-20', '1', '100', 'AAPL12620C100'],
  ])('option %s', (symbol, root, expiry, putOrCall, strike, canonical) => {
    const parts = parse(symbol, 'OPT')
    expect(parts).toMatchObject({ securityType: 'OPT', root, expiry, putOrCall })
    expect(parts.securityType === 'OPT' && parts.strike.toFixed()).toBe(strike)
    expect(formatSymbol(parts)).toBe(canonical)
  })

  test.each([
    ['', 'CS'],
    ['aapl', 'CS'],
    ['AA PL', 'CS'],
    ['@ESM26', 'CS'],
    ['BRK.', 'CS'],
    ['ESM26', 'FUT'],
    ['@ES', 'FUT'],
    ['@ESM', 'FUT'],
    ['@ESA26', 'FUT'],
    ['@ESM2026', 'FUT'],
    ['@M26', 'FUT'],
    ['@esm26', 'FUT'],
    ['EURUS', 'FOR'],
    ['EUR-USD', 'FOR'],
    ['EUREUR', 'FOR'],
    ['MSFT', 'OPT'],
    ['MSFT1220Y30', 'OPT'],
    ['MSFT1231B30', 'OPT'],
    ['MSFT1220J0', 'OPT'],
    ['MSFT1220J', 'OPT'],
    ['MSFT1220J-5', 'OPT'],
    ['MSFT2529B30', 'OPT'],
  ] as const)('%j is no %s', (symbol, type) => {
    expect(parseSymbol(symbol, type, today)).toBe('InvalidSymbol')
  })
})

describe('the year of a contract', () => {
  test.each([
    ['@ESM6', '2026-06-30', 2026],
    ['@ESM6', '2026-07-01', 2036],
    ['@ESH6', '2026-02-26', 2026],
    ['@ESF6', '2026-02-26', 2036],
    ['@ESZ5', '2025-12-31', 2025],
    ['@ESH5', '2026-02-26', 2035],
    ['@ESM26', '2036-01-01', 2026],
    ['@ESM99', '2026-02-26', 1999],
    ['@ESM75', '2026-02-26', 2075],
    ['@ESM76', '2026-02-26', 1976],
  ])('%s on %s is of %i', (symbol, on, year) => {
    expect(parse(symbol, 'FUT', day(on))).toMatchObject({ year })
  })
})

describe('guessSecurityType', () => {
  const isCurrency = (code: string): boolean => ['EUR', 'USD', 'JPY'].includes(code)
  test.each([
    ['AAPL', 'CS'],
    ['BRK.B', 'CS'],
    ['@ESM26', 'FUT'],
    ['EURUSD', 'FOR'],
    ['ABC/DEF', 'FOR'],
    ['GOOGLE', 'CS'],
    ['MSFT1220J30.5', 'OPT'],
  ])('%s is %s', (symbol, type) => {
    expect(guessSecurityType(symbol, isCurrency)).toBe(type)
  })
})

describe('the exchange form', () => {
  test.each([
    ['a stock', { Symbol: 'AAPL', SecurityType: 'CS' }, 'AAPL'],
    ['a pair', { Symbol: 'EUR/USD', SecurityType: 'FOR' }, 'EURUSD'],
    ['a future by month', { Symbol: 'ES', SecurityType: 'FUT', MaturityMonthYear: '202606' }, '@ESM26'],
    ['a future by day', { Symbol: 'CL', SecurityType: 'FUT', MaturityMonthYear: '20270115' }, '@CLF27'],
    [
      'an option',
      {
        Symbol: 'MSFT',
        SecurityType: 'OPT',
        MaturityMonthYear: '20121020',
        PutOrCall: '1',
        StrikePrice: dec('30.50'),
      },
      'MSFT1220J30.5',
    ],
    ['a stock with a blank month', { Symbol: 'AAPL', SecurityType: 'CS', MaturityMonthYear: '' }, 'AAPL'],
    ['a multiplier of 1', { Symbol: 'AAPL', SecurityType: 'CS', PriceMultiplier: dec(1) }, 'AAPL'],
  ] as const)('reads %s', (_, input, symbol) => {
    const parts = parseExchangeSymbol(input)
    expect(typeof parts === 'string' ? parts : formatSymbol(parts)).toBe(symbol)
  })

  const option = {
    Symbol: 'MSFT',
    SecurityType: 'OPT',
    MaturityMonthYear: '20121020',
    PutOrCall: '1',
    StrikePrice: dec(30),
  } as const
  test.each([
    ['a future without a month', { Symbol: 'ES', SecurityType: 'FUT' }],
    ['a thirteenth month', { Symbol: 'ES', SecurityType: 'FUT', MaturityMonthYear: '202613' }],
    ['an option without a day', { ...option, MaturityMonthYear: '201210' }],
    ['an option on a day that does not exist', { ...option, MaturityMonthYear: '20120231' }],
    ['an option without a side', { ...option, PutOrCall: undefined }],
    ['an option without a strike', { ...option, StrikePrice: undefined }],
    ['a strike of 0', { ...option, StrikePrice: dec(0) }],
    ['a negative strike', { ...option, StrikePrice: dec(-1) }],
    ['another price multiplier', { Symbol: 'AAPL', SecurityType: 'CS', PriceMultiplier: dec(100) }],
    ['a malformed root', { Symbol: 'E S', SecurityType: 'FUT', MaturityMonthYear: '202606' }],
    ['a malformed pair', { Symbol: 'EUR', SecurityType: 'FOR' }],
    ['a stock of no month', { Symbol: 'AAPL', SecurityType: 'CS', MaturityMonthYear: 'Jun24' }],
    ['a stock of a thirteenth month', { Symbol: 'AAPL', SecurityType: 'CS', MaturityMonthYear: '202613' }],
    ['a pair of no day', { Symbol: 'EURUSD', SecurityType: 'FOR', MaturityMonthYear: '20260231' }],
  ] as const)('refuses %s', (_, input) => {
    expect(parseExchangeSymbol(input)).toBe('InvalidSymbol')
  })
})

test.each([
  ['@ESV25', 'FUT', '202510', 'Oct25', 'ES'],
  ['MSFT1220J30.5', 'OPT', '20121020', 'Oct12', 'MSFT'],
] as const)('%s matures', (symbol, type, maturity, label, root) => {
  const parts = parse(symbol, type)
  expect(maturityOf(parts)).toBe(maturity)
  expect(expiryLabelOf(maturity)).toBe(label)
  expect(rootOf(parts)).toBe(root)
})

test('what has no maturity has none', () => {
  expect(maturityOf(parse('AAPL', 'CS'))).toBeNull()
  expect(rootOf(parse('EURUSD', 'FOR'))).toBe('EUR/USD')
})

const letters = fc.stringMatching(/^[A-Z]{1,4}$/)
const anyParts: fc.Arbitrary<SymbolParts> = fc.oneof(
  fc.record({ securityType: fc.constant('CS' as const), ticker: letters }),
  fc.record({
    securityType: fc.constant('FUT' as const),
    root: fc.stringMatching(/^[A-Z0-9]{1,4}$/),
    year: fc.integer({ min: 1976, max: 2075 }),
    month: fc.integer({ min: 1, max: 12 }),
  }),
  fc
    .record({ base: fc.stringMatching(/^[A-Z]{3}$/), quote: fc.stringMatching(/^[A-Z]{3}$/) })
    .filter(({ base, quote }) => base !== quote)
    .map((pair) => ({ securityType: 'FOR' as const, ...pair })),
  fc.record({
    securityType: fc.constant('OPT' as const),
    root: letters,
    expiry: fc
      .date({ min: new Date('2000-01-01'), max: new Date('2099-12-31'), noInvalidDate: true })
      .map((date) => date.toISOString().slice(0, 10)),
    putOrCall: fc.constantFrom('0' as const, '1' as const),
    strike: fc.integer({ min: 1, max: 9_999_999 }).map((thousandths) => dec(thousandths).div(1000)),
  }),
)

test.each([
  ['a future of this century', { securityType: 'FUT', root: 'ES', year: 2026, month: 6 }, true],
  ['one of another', { securityType: 'FUT', root: 'ES', year: 2126, month: 6 }, false],
  ['one of the last', { securityType: 'FUT', root: 'ES', year: 1926, month: 6 }, false],
  ['a stock', { securityType: 'CS', ticker: 'AAPL' }, true],
] as const)('two digits name the year of %s', (_, parts, expected) => {
  expect(isWithinCentury(parts, today)).toBe(expected)
})

test('a pair and a future have a second spelling', () => {
  expect(spellingsOf(parse('EURUSD', 'FOR'))).toEqual(['EURUSD', 'EUR/USD'])
  expect(spellingsOf(parse('@ESM26', 'FUT'))).toEqual(['@ESM26', '@ESM6'])
  expect(spellingsOf(parse('AAPL', 'CS'))).toEqual(['AAPL'])
})

describe('every symbol', () => {
  test('reads back from each of its spellings', () => {
    fc.assert(
      fc.property(anyParts, (parts) => {
        const [canonical, ...others] = spellingsOf(parts)
        expect(canonical).toBe(formatSymbol(parts))
        expect(parseSymbol(canonical ?? '', parts.securityType, today)).toEqual(parts)
        const near = parts.securityType !== 'FUT' || (parts.year > 2026 && parts.year < 2036)
        for (const other of near ? others : []) {
          expect(parseSymbol(other, parts.securityType, today)).toEqual(parts)
        }
      }),
    )
  })

  test('reads back from its exchange form', () => {
    fc.assert(
      fc.property(anyParts, (parts) => {
        const option =
          parts.securityType === 'OPT' ? { PutOrCall: parts.putOrCall, StrikePrice: parts.strike } : {}
        const form = {
          Symbol: rootOf(parts),
          SecurityType: parts.securityType,
          MaturityMonthYear: maturityOf(parts) ?? undefined,
          ...option,
        }
        expect(parseExchangeSymbol(form)).toEqual(parts)
      }),
    )
  })

  test('any text is parsed or refused', () => {
    fc.assert(
      fc.property(fc.string(), fc.constantFrom<SecurityType>('CS', 'FUT', 'OPT', 'FOR'), (text, type) => {
        const parts = parseSymbol(text, type, today)
        if (typeof parts !== 'string') expect(parseSymbol(formatSymbol(parts), type, today)).toEqual(parts)
      }),
    )
  })
})
