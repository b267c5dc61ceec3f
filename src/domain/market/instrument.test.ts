import { describe, expect, test } from 'vitest'
import type { SecurityType } from '../codes.ts'
import { dec } from '../decimal.ts'
import { readDay } from '../time.ts'
import { calendarNames } from './calendar.ts'
import {
  completeInstrument,
  deriveInstrument,
  futureEndingOn,
  knownForexPairs,
  knownFutureRoots,
  securityTypeOfSymbol,
} from './derive-instrument.ts'
import { type Instrument, isListedAs, type ListingTerms } from './instrument.ts'
import { formatSymbol, isListedMonth, parseExchangeSymbol, parseSymbol } from './symbol.ts'

const today = readDay('2026-02-26') ?? 0

function derive(symbol: string, securityType: SecurityType): Instrument {
  const parts = parseSymbol(symbol, securityType, today)
  const instrument = typeof parts === 'string' ? parts : deriveInstrument(parts)
  if (typeof instrument === 'string') throw new Error(`${symbol} was refused`)
  return instrument
}

/** Decimals as text, so that a failure reads like the row. */
const plain = (instrument: object): unknown => JSON.parse(JSON.stringify(instrument))

describe('derived instruments', () => {
  test.each([
    [
      'AAPL',
      'CS',
      {
        pointValue: '1',
        tick: '0.01',
        calendar: 'US_EQUITY',
        currency: 'USD',
        exchange: 'DEFAULT',
        root: 'AAPL',
      },
    ],
    [
      'EURUSD',
      'FOR',
      { pointValue: '1000', tick: '0.00001', calendar: 'FOREX', currency: 'USD', root: 'EUR/USD' },
    ],
    ['USD/JPY', 'FOR', { symbol: 'USDJPY', tick: '0.001', currency: 'JPY' }],
    [
      '@ESM6',
      'FUT',
      {
        symbol: '@ESM26',
        pointValue: '50',
        tick: '0.25',
        calendar: 'CME_GLOBEX',
        exchange: 'XCME',
        initialMargin: '11880',
        maintenanceMargin: '10800',
        underlying: 'ES',
        root: 'ES',
        maturityMonthYear: '202606',
        expiry: null,
        lastTradingDay: '2026-06-18',
        description: 'E-mini S&P 500 Futures Jun26',
      },
    ],
    ['@NQM26', 'FUT', { pointValue: '20', calendar: 'CME_GLOBEX' }],
    [
      '@CLM26',
      'FUT',
      { pointValue: '1000', calendar: 'CME_ENERGY_METALS', exchange: 'XNYM', lastTradingDay: '2026-05-19' },
    ],
    ['@GCM26', 'FUT', { pointValue: '100', calendar: 'CME_ENERGY_METALS', exchange: 'XCEC' }],
    ['@ZBM26', 'FUT', { pointValue: '1000', tick: '0.03125', calendar: 'CBOT_RATES', exchange: 'XCBT' }],
    ['@6EM26', 'FUT', { pointValue: '125000', tick: '0.00005', calendar: 'CME_FX' }],
    ['@ZCN26', 'FUT', { calendar: 'CBOT_GRAINS' }],
    ['@LEM26', 'FUT', { calendar: 'CME_LIVESTOCK' }],
    ['@VXM26', 'FUT', { calendar: 'CFE', exchange: 'XCBF' }],
    [
      '@FDAXM26',
      'FUT',
      { calendar: 'EUREX', currency: 'EUR', exchange: 'XEUR', lastTradingDay: '2026-06-19' },
    ],
    ['@SR3M26', 'FUT', { initialMargin: null, maintenanceMargin: null }],
    [
      'MSFT1220J30.5',
      'OPT',
      {
        pointValue: '100',
        calendar: 'US_EQUITY',
        underlying: 'MSFT',
        root: 'MSFT',
        putOrCall: '1',
        strike: '30.5',
        expiry: '2012-10-20',
        maturityMonthYear: '20121020',
        lastTradingDay: '2012-10-19',
        settlement: 'physical',
        indexOption: false,
        description: 'MSFT 2012-10-20 30.5 Call',
      },
    ],
    [
      'SPXW2620R5000',
      'OPT',
      {
        underlying: 'SPX',
        root: 'SPXW',
        calendar: 'US_INDEX_OPTION',
        settlement: 'cash',
        indexOption: true,
        lastTradingDay: '2026-06-18',
      },
    ],
    [
      'SPX2617C6000',
      'OPT',
      { settlement: 'cash', putOrCall: '1', expiry: '2026-03-17', lastTradingDay: '2026-03-16' },
    ],
  ] as const)('%s (%s)', (symbol, type, expected) => {
    expect(plain(derive(symbol, type))).toMatchObject(expected)
  })

  test.each([
    ['@QQQM26', 'FUT'],
    ['ABCXYZ', 'FOR'],
    ['USDEUR', 'FOR'],
  ] as const)('%s is in no table', (symbol, type) => {
    const parts = parseSymbol(symbol, type, today)
    expect(typeof parts === 'string' || deriveInstrument(parts)).toBe('InvalidSymbol')
  })

  test('every root and pair of the tables gives a sound instrument', () => {
    const symbols = [
      ...knownFutureRoots().map((root) => [`@${root}Z26`, 'FUT'] as const),
      ...knownForexPairs().map((pair) => [pair, 'FOR'] as const),
    ]
    expect(symbols.length).toBeGreaterThan(260)
    for (const [symbol, type] of symbols) {
      const instrument = derive(symbol, type)
      expect(instrument.symbol).toBe(symbol)
      expect(instrument.pointValue.isPositive() && !instrument.pointValue.isZero(), symbol).toBe(true)
      expect(instrument.tick.isPositive() && !instrument.tick.isZero(), symbol).toBe(true)
      expect(calendarNames).toContain(instrument.calendar)
      expect(instrument.currency).toMatch(/^[A-Z]{3}$/)
      expect(instrument.description.length).toBeGreaterThan(5)
      if (type === 'FUT') expect(instrument.lastTradingDay).toMatch(/^202[67]-\d\d-\d\d$/)
      const { root, securityType, maturityMonthYear } = instrument
      const parts = parseExchangeSymbol({
        Symbol: root,
        SecurityType: securityType,
        MaturityMonthYear: maturityMonthYear ?? undefined,
      })
      expect(plain(typeof parts === 'string' ? {} : (deriveInstrument(parts) as Instrument))).toEqual(
        plain(instrument),
      )
    }
  })
})

describe('completed instruments', () => {
  test('keep what was entered and take the rest from symbol and class', () => {
    const entered = {
      symbol: '@ESM6',
      securityType: 'FUT',
      pointValue: dec(10),
      calendar: 'CONTINUOUS',
    } as const
    expect(plain(completeInstrument(entered, today))).toMatchObject({
      symbol: '@ESM6',
      pointValue: '10',
      tick: '0.25',
      calendar: 'CONTINUOUS',
      root: 'ES',
      maturityMonthYear: '202606',
      lastTradingDay: '2026-06-18',
    })
  })

  test.each(['2026-06-17', null])('keep an entered last trading day: %s', (lastTradingDay) => {
    const entered = { symbol: '@ESM26', securityType: 'FUT', lastTradingDay } as const
    expect(completeInstrument(entered, today).lastTradingDay).toBe(lastTradingDay)
  })

  test('of an option without a readable symbol end by the entered expiry', () => {
    const entered = {
      symbol: 'XYZ call',
      securityType: 'OPT',
      underlying: 'XYZ',
      putOrCall: '1',
      strike: dec(50),
      expiry: '2024-03-16',
      lastTradingDay: undefined,
    } as const
    expect(plain(completeInstrument(entered, today))).toMatchObject({
      root: 'XYZ call',
      underlying: 'XYZ',
      maturityMonthYear: '20240316',
      lastTradingDay: '2024-03-15',
      settlement: 'physical',
      pointValue: '100',
    })
  })

  test('of an index keep their morning settlement', () => {
    const entered = { symbol: 'SPX2617C6000', securityType: 'OPT', currency: 'USD' } as const
    expect(completeInstrument(entered, today)).toMatchObject({
      expiry: '2026-03-17',
      lastTradingDay: '2026-03-16',
    })
  })

  test.each(['EUR/USD', 'EURUSD'])(
    'of the pair %s are known by its native symbol, which rates are found by',
    (symbol) => {
      expect(completeInstrument({ symbol, securityType: 'FOR' }, today)).toMatchObject({
        symbol: 'EURUSD',
        root: 'EUR/USD',
      })
    },
  )

  test('of a pair without a table are quoted in its second currency', () => {
    expect(completeInstrument({ symbol: 'XAUEUR', securityType: 'FOR' }, today)).toMatchObject({
      currency: 'EUR',
      root: 'XAU/EUR',
    })
  })

  test('of a future without a table are quoted in dollars', () => {
    expect(completeInstrument({ symbol: '@QQQM26', securityType: 'FUT' }, today)).toMatchObject({
      currency: 'USD',
      root: 'QQQ',
      maturityMonthYear: '202606',
    })
  })

  test.each([
    ['nothing', {}, '11880', '10800'],
    ['the initial one', { initialMargin: dec(500) }, '500', '500'],
    ['the maintenance one', { maintenanceMargin: dec(20_000) }, '20000', '20000'],
    ['both', { initialMargin: dec(500), maintenanceMargin: dec(450) }, '500', '450'],
  ])('margins of a future of the table with %s entered', (_, entered, initialMargin, maintenanceMargin) => {
    const future = completeInstrument({ symbol: '@ESM26', securityType: 'FUT', ...entered }, today)
    expect(plain(future)).toMatchObject({ initialMargin, maintenanceMargin })
  })

  test('absent members count as not entered', () => {
    expect(
      completeInstrument({ symbol: 'AAPL', securityType: 'CS', currency: undefined }, today).currency,
    ).toBe('USD')
  })
})

test.each([
  ['three months of interest', '@SR3Z27', '2028-03-14'],
  ['Canadian dollars', '@6CZ27', '2027-12-14'],
  ['euros', '@6EZ27', '2027-12-13'],
  ['Brazilian reals', '@6LZ27', '2027-11-30'],
  ['the dollar itself', '@DXZ27', '2027-12-13'],
  ['a Japanese index', '@NKDZ27', '2027-12-09'],
  ['an American index', '@ESZ27', '2027-12-17'],
  ['crude oil', '@CLF28', '2027-12-20'],
  ['crude oil in small', '@MCLF28', '2027-12-17'],
  ['copper', '@HGK27', '2027-05-26'],
  ['copper in small', '@MHGK27', '2027-04-28'],
  ['a Brazilian index', '@IBVZ27', '2027-12-15'],
  ['natural gas in small', '@QGF28', '2027-12-28'],
  ['Brent at the end of the year', '@BZG28', '2027-12-30'],
  ['gasoil', '@GF28', '2028-01-12'],
  ['coffee', '@KCZ27', '2027-12-20'],
  ['cattle at Thanksgiving', '@GFX27', '2027-11-18'],
  ['steel', '@HRCX27', '2027-11-23'],
])('%s is traded for the last time on its own day: %s on %s', (_, symbol, lastTradingDay) => {
  const parts = parseSymbol(symbol, 'FUT', today)
  expect(typeof parts === 'string' ? parts : deriveInstrument(parts)).toMatchObject({ lastTradingDay })
})

describe('a future by its last day of trading', () => {
  test.each([
    ['ES', '2026-06-18', '@ESM26'],
    ['CL', '2026-05-19', '@CLM26'],
    ['CL', '2026-12-21', '@CLF27'],
    ['QQQ', '2026-05-19', '@QQQK26'],
    ['SR3', '2028-03-14', '@SR3Z27'],
    ['SR3', '2026-12-15', '@SR3U26'],
    ['ES', '2026-06-19', undefined],
    ['ES', '2026-05-15', undefined],
  ])('%s on %s', (root, day, symbol) => {
    const parts = futureEndingOn(root, day)
    expect(parts && formatSymbol(parts)).toBe(symbol)
  })

  test('every listed contract of every root is found', () => {
    for (const root of knownFutureRoots()) {
      for (let month = 1; month <= 24; month++) {
        const parts = {
          securityType: 'FUT',
          root,
          year: 2025 + (month > 12 ? 1 : 0),
          month: ((month - 1) % 12) + 1,
        } as const
        const instrument = deriveInstrument(parts)
        if (!isListedMonth(parts) || typeof instrument === 'string') continue
        expect(futureEndingOn(root, instrument.lastTradingDay ?? '')).toEqual(parts)
      }
    }
  })
})

test.each([
  ['EURUSD', 'FOR'],
  ['GOOGLE', 'CS'],
  ['@ESM26', 'FUT'],
])('%s alone is %s', (symbol, type) => {
  expect(securityTypeOfSymbol(symbol)).toBe(type)
})

test.each<[string, ListingTerms, boolean]>([
  ['nothing else', {}, true],
  ['its currency, market and day', { currency: 'USD', exchange: 'XCME', lastDay: '2026-06-18' }, true],
  ['another currency', { currency: 'EUR' }, false],
  ['another market', { exchange: 'XCBT' }, false],
  ['another day', { lastDay: '2026-06-19' }, false],
])('the future is listed as one that names %s: %j, %s', (_, terms, expected) => {
  expect(isListedAs(derive('@ESM26', 'FUT'), terms)).toBe(expected)
})

test('what has no market or no last day is listed wherever and whenever', () => {
  const stock = derive('AAPL', 'CS')
  expect(isListedAs(stock, { exchange: 'XNAS', lastDay: '2026-06-18' })).toBe(true)
  expect(isListedAs({ ...stock, exchange: 'XNYS' }, { exchange: 'XNAS' })).toBe(false)
})
