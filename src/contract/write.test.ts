import fc from 'fast-check'
import { describe, expect, test } from 'vitest'
import { dec, roundTo } from '../domain/decimal.ts'
import {
  compileRow,
  type Dialect,
  faultEnvelope,
  faultOf,
  type HostName,
  type OperationName,
  publicView,
  refusalAnswer,
  rows,
  textOf,
} from './index.ts'
import { Person } from './resources/person.ts'
import { roundedText } from './write.ts'

function write(
  operation: OperationName,
  result: unknown,
  dialect: Dialect = 'native',
  host: HostName = 'Gen',
  version: 1 | 2 = 1,
) {
  return textOf(compileRow(rows[operation], host, dialect, version).writeAnswer({ results: [result] }))
}
const element = (text: string) => text.slice('{"Results":['.length, text.indexOf('],"ResponseStatus"'))

const symbols = {
  PlatformSymbol: { FullSymbol: 'AAPL', SymbolType: 'stock', Description: 'Apple' },
  ExchangeSymbol: {
    Symbol: 'AAPL',
    Currency: 'USD',
    SecurityExchange: 'XNAS',
    SecurityType: 'CS',
    PriceMultiplier: 1,
  },
}
const symbolText =
  '"PlatformSymbol":{"FullSymbol":"AAPL","SymbolType":"stock","Description":"Apple"},"ExchangeSymbol":{"Symbol":"AAPL","Currency":"USD","SecurityExchange":"XNAS","SecurityType":"CS","PriceMultiplier":1}'
const position = {
  ...symbols,
  AvgPx: '54.25769400',
  Quantity: -80n,
  StrategyId: 2n ** 63n - 1n,
  OpenedDate: Date.parse('2026-02-26T15:15:15.987Z'),
  Currency: 'USD',
  StrategyName: 'Trend',
}
const signal = {
  ...symbols,
  SignalId: 157376139,
  OrderStatus: '0',
  OrderType: '1',
  Side: '1',
  OpenClose: 'O',
  OrderQuantity: 80,
  TIF: '0',
  FilledQuantity: 0,
  AvgFillPrice: 0,
  PostedDate: '2026-02-26T15:15:15Z',
}

describe('an answer', () => {
  test('writes a position in the order of the interface, exactly', () => {
    expect(write('GetStrategyOpenPositions', position)).toBe(
      `{"Results":[{"StrategyName":"Trend","Currency":"USD","OpenedDate":"2026-02-26T15:15:15Z","StrategyId":9223372036854775807,"Quantity":-80,"AvgPx":54.257694,${symbolText}}],"ResponseStatus":{"ErrorCode":"200"}}`,
    )
  })

  test('writes an order in the order of the interface and leaves out what is absent', () => {
    const order = {
      ...signal,
      Id: 1,
      OrderId: '1',
      SignalId: 1,
      StrategyId: 2,
      StrategyName: 'S',
      SignalType: 1,
      AvgPx: 0,
      Limit: null,
      Stop: undefined,
      Secret: 'unknown members never leave',
    }
    expect(element(write('GetStrategyActiveOrders', order))).toBe(
      `{"OrderStatus":"0","FilledQuantity":0,"AvgFillPrice":0,"PostedDate":"2026-02-26T15:15:15Z","SignalType":1,"Id":1,"OrderId":"1","StrategyId":2,"StrategyName":"S","SignalId":1,"AvgPx":0,"OrderType":"1","Side":"1","OpenClose":"O","OrderQuantity":80,"TIF":"0",${symbolText}}`,
    )
  })

  test('leaves absent ids out of a signal answer', () => {
    expect(write('NewStrategyOrder', { SignalId: 157376139 })).toBe(
      '{"Results":[{"SignalId":157376139}],"ResponseStatus":{"ErrorCode":"200"}}',
    )
  })

  test('is an empty array without results, and a bare boolean where the row says so', () => {
    const compiled = compileRow(rows.GetBrokers, 'Gen', 'native')
    expect(compiled.writeAnswer({ results: [] })).toBe('{"Results":[],"ResponseStatus":{"ErrorCode":"200"}}')
    expect(compileRow(rows.StopAutotrade, 'Gen', 'native').writeAnswer({ bare: false })).toBe('false')
  })

  test('is the same text as a long list as in one', () => {
    const compiled = compileRow(rows.GetStrategyOpenPositions, 'Gen', 'native')
    const one = element(write('GetStrategyOpenPositions', position))
    for (const count of [1, 2, 19, 20, 21, 1000]) {
      const body = compiled.writeAnswer({ results: Array.from({ length: count }, () => position) })
      const results = Array.from({ length: count }, () => one).join(',')
      expect(textOf(body)).toBe(`{"Results":[${results}],"ResponseStatus":{"ErrorCode":"200"}}`)
      expect(typeof body).toBe(count < 20 ? 'string' : 'object')
    }
  })

  test('percent-encodes cursors once and names no absent one', () => {
    const compiled = compileRow(rows.GetSubscribers, 'Gen', 'native')
    const text = (links: { next?: string; prev?: string }) => compiled.writeAnswer({ results: [], links })
    expect(text({ next: 'a+/=', prev: 'b' })).toBe(
      '{"Results":[],"Pagination":{"prev_cursor":"b","next_cursor":"a%2B%2F%3D"},"ResponseStatus":{"ErrorCode":"200"}}',
    )
    expect(text({ prev: 'a+/=' })).toBe(
      '{"Results":[],"Pagination":{"prev_cursor":"a%2B%2F%3D"},"ResponseStatus":{"ErrorCode":"200"}}',
    )
    expect(text({ next: '' })).toBe('{"Results":[],"ResponseStatus":{"ErrorCode":"200"}}')
  })

  test('spells members as the dialect does', () => {
    expect(write('GetStrategyOpenPositions', position, 'compat')).toContain('"C2Symbol":{"FullSymbol":"AAPL"')
    const tradable = {
      Id: 1,
      Currency: 'USD',
      Description: 'Apple',
      PointValue: 1,
      TickSize: '0.01',
      DecimalPrecision: 2,
      PlatformSymbol: position.PlatformSymbol,
      ExchangeSymbol: position.ExchangeSymbol,
      BrokerMarginRequirements: [],
    }
    expect(write('GetSupportedSymbols', tradable, 'compat')).toContain('"C2Symbol":{"FullSymbol":"AAPL"')
    const equity = {
      StrategyId: 1,
      StrategyName: 'S',
      StartDate: 0,
      SecurityTypesEnabled: { Stocks: true, Options: false, Futures: false, Forex: false },
      MonthlyCost: '49.00',
      StrategyOwnerId: 2,
      MonthlyResults: [{ Date: 0, Return: 0.1, Equity: '100.10', EquityWithCosts: 100 }],
    }
    expect(write('GetStrategyHistoricalDailyEquity', equity)).toContain(
      '"MonthlyResults":[{"Date":"1970-01-01T00:00:00Z","Return":0.1,"Equity":100.1,',
    )
    expect(write('GetStrategyHistoricalDailyEquity', equity, 'compat')).toContain('"DailyEquity":[{')
  })

  test('shows a member on its hosts only', () => {
    const key = {
      Id: 1,
      AccessKey: 'x',
      PersonId: 2,
      FirstName: 'A',
      LastName: 'B',
      Email: 'e',
      GeoSiteId: 'eu',
      Role: 'user',
      CreateDate: 0,
    }
    expect(write('GetAccessKey', key, 'native', 'Geo')).toContain('"GeoSiteId":"eu"')
    expect(write('GetAccessKey', key, 'native', 'WL')).not.toContain('GeoSiteId')
  })

  test('shows signals as ids in version 1 and as rows in version 2', () => {
    const desired = { NewSignals: [signal], CanceledSignals: [], RejectedSignals: [signal] }
    expect(element(write('SetDesiredPositions', desired))).toBe(
      '{"NewSignals":[157376139],"CanceledSignals":[]}',
    )
    const rowText = element(write('SetDesiredPositions', desired, 'native', 'WL', 2))
    expect(JSON.parse(rowText)).toMatchObject({
      NewSignals: [{ SignalId: 157376139 }],
      RejectedSignals: [{ SignalId: 157376139 }],
    })
  })

  test.each<[string, object, string]>([
    ['a member is missing', { Currency: undefined }, 'Results.Currency is missing'],
    ['a number is none', { AvgPx: Number.NaN }, 'Results.AvgPx is no number'],
    ['a number is infinite', { AvgPx: Number.POSITIVE_INFINITY }, 'Results.AvgPx is no number'],
    ['numeric text is none', { AvgPx: '1,5' }, 'Results.AvgPx is no number'],
    ['an integer has a fraction', { StrategyId: 1.5 }, 'Results.StrategyId is no integer'],
    ['an instant is none', { OpenedDate: 'soon' }, 'Results.OpenedDate is no instant'],
    ['a text is none', { StrategyName: 5 }, 'Results.StrategyName is no text'],
  ])('throws when %s', (_name, change, message) => {
    expect(() => write('GetStrategyOpenPositions', { ...position, ...change })).toThrow(message)
  })

  test('writes every text so that it reads the same', () => {
    fc.assert(
      fc.property(fc.string({ unit: 'binary' }), (text) => {
        expect(JSON.parse(write('Hello', text)).Results).toEqual([text])
      }),
    )
    for (const text of ['"', '\\', '\n', '\u0000', '\u2028', '</script>', '😀', 'é'])
      expect(JSON.parse(write('Hello', text)).Results).toEqual([text])
  })
})

describe('numbers', () => {
  const priceText = (value: unknown) =>
    /"AvgPx":([^,]*)/.exec(write('GetStrategyOpenPositions', { ...position, AvgPx: value }))?.[1]
  test.each([
    ['2.00', '2'],
    ['0.00000000', '0'],
    ['-0', '0'],
    ['-0.00', '0'],
    ['100', '100'],
    [1e-7, '0.0000001'],
    [1e21, '1e+21'],
    [-1.5e21, '-1.5e+21'],
    [8.999999999991e21, '8.999999999991e+21'],
    [-0, '0'],
    [0.1 + 0.2, '0.3'],
    ['1.999999995', '2'],
    ['-0.000000004', '0'],
    ['-0.000000005', '-0.00000001'],
    [dec('12.345678915'), '12.34567892'],
    [dec('1e-30'), '0'],
  ])('a price of %s is written %s', (value, text) => {
    expect(priceText(value)).toBe(text)
  })

  test('rounding is that of the domain', () => {
    fc.assert(
      fc.property(
        fc.bigInt({ min: -(10n ** 20n), max: 10n ** 20n }),
        fc.constantFrom(2, 8),
        (units, places) => {
          const value = dec(units).times('1e-10')
          expect(dec(roundedText(value.toFixed(), places)).equals(roundTo(value, places))).toBe(true)
          expect(roundedText(value.toFixed(), places)).not.toMatch(/\.\d*0$|\.$|^-0$/)
        },
      ),
    )
  })
})

describe('errors', () => {
  test('repeat the status, its name, and what was wrong', () => {
    expect(faultEnvelope(400, [faultOf('MissingValue', 'Order.Limit')])).toBe(
      '{"ResponseStatus":{"ErrorCode":"400","Message":"BadRequest","Errors":[{"ErrorCode":"1102","FieldName":"Order.Limit","Message":"Missing value"}]}}',
    )
    expect(refusalAnswer('KeyRejected', 'APIKey')).toEqual({
      status: 401,
      body: '{"ResponseStatus":{"ErrorCode":"401","Message":"Unauthorized","Errors":[{"ErrorCode":"2015","FieldName":"APIKey","Message":"Unknown API Key"}]}}',
    })
  })
})

test('the public view of a person shows five members', () => {
  const all = Object.fromEntries(Object.keys(Person.shape.members).map((name) => [name, null]))
  const shown = publicView(
    Person,
    all as unknown as Parameters<typeof publicView<typeof Person.shape.members>>[1],
  )
  expect(Object.keys(shown).sort()).toEqual(['Alias', 'Icon', 'Id', 'IsInvestor', 'IsManager'])
})
