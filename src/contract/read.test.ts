import fc from 'fast-check'
import { describe, expect, test } from 'vitest'
import { query, read, reader } from '../../test/contract/reading.ts'
import type { OperationName } from './index.ts'
import { exactNumber } from './read-value.ts'

describe('a query', () => {
  const page = { Limit: 1000, AscendingOrder: true }
  test.each<[string, OperationName, string, unknown]>([
    ['fills in defaults', 'GetStrategyHistoricalOrders', 'StrategyId=5', { StrategyId: 5, ...page }],
    [
      'reads the largest id exactly',
      'GetStrategyDetails',
      'StrategyId=9223372036854775807',
      { StrategyId: 2n ** 63n - 1n },
    ],
    [
      'reads the smallest id exactly',
      'GetStrategyDetails',
      'StrategyId=-9223372036854775808',
      { StrategyId: -(2n ** 63n) },
    ],
    [
      'reads an id above 2^53 exactly',
      'GetStrategyDetails',
      'StrategyId=9007199254740993',
      { StrategyId: 9007199254740993n },
    ],
    ['reads minus zero as zero', 'GetStrategyDetails', 'StrategyId=-0', { StrategyId: 0 }],
    [
      'refuses one above the range',
      'GetStrategyDetails',
      'StrategyId=9223372036854775808',
      ['1130 StrategyId'],
    ],
    ['refuses a very long id', 'GetStrategyDetails', `StrategyId=${'9'.repeat(400)}`, ['1130 StrategyId']],
    ['refuses an i32 above the range', 'GetAutotraders', 'BrokerId=2147483648', ['1130 BrokerId']],
    ['refuses an i32 below the range', 'GetAutotraders', 'BrokerId=-2147483649', ['1130 BrokerId']],
    ['names what is missing', 'GetDashBoard', '', ['1102 PersonId', '1102 Account']],
    ['takes empty as missing', 'GetDashBoard', 'PersonId=&Account=%20', ['1102 PersonId', '1102 Account']],
    [
      'lists all faults',
      'GetAutotraders',
      'StrategyId=x&Limit=0&Foo=1',
      ['1130 StrategyId', '1130 Limit', '1130 Foo'],
    ],
    [
      'knows names by their case',
      'GetStrategyDetails',
      'strategyId=1',
      ['1130 strategyId', '1102 StrategyId'],
    ],
    ['refuses a repeated scalar', 'GetStrategyDetails', 'StrategyId=1&StrategyId=1', ['1130 StrategyId']],
    ['lowers Limit to the most', 'GetAutotraders', 'Limit=5000', { Limit: 1000, AscendingOrder: true }],
    [
      'lowers a Limit beyond 32 bits',
      'GetAutotraders',
      'Limit=99999999999',
      { Limit: 1000, AscendingOrder: true },
    ],
    ['refuses a negative Limit', 'GetAutotraders', 'Limit=-1', ['1130 Limit']],
    ['takes an empty cursor as the first page', 'GetAutotraders', 'Cursor=', page],
    [
      'takes what may be a cursor',
      'GetAutotraders',
      `Cursor=${'a_-Z'.repeat(11)}`,
      { Cursor: 'a_-Z'.repeat(11), ...page },
    ],
    [
      'refuses what cannot be one',
      'GetAutotraders',
      `Limit=0&Cursor=${'a'.repeat(43)}`,
      ['1130 Limit', '3003 Cursor'],
    ],
    [
      'refuses one with a changed character',
      'GetAutotraders',
      `Cursor=${'a'.repeat(60)}%3D`,
      ['3003 Cursor'],
    ],
    ['refuses one that is too long once', 'GetAutotraders', `Cursor=${'='.repeat(16_001)}`, ['1130 Cursor']],
    ['reads false', 'GetAutotraders', 'AscendingOrder=false', { Limit: 1000, AscendingOrder: false }],
    [
      'lowers MaxAccountDays',
      'GetSimResults',
      'MaxAccountDays=400',
      { ActiveOnly: true, MaxAccountDays: 365 },
    ],
    ['refuses no MaxAccountDays', 'GetSimResults', 'MaxAccountDays=0', ['1130 MaxAccountDays']],
    ['reads repeated ids', 'GetStrategyActiveOrders', 'StrategyIds=1&StrategyIds=2', { StrategyIds: [1, 2] }],
    ['reads ids between commas', 'GetStrategyActiveOrders', 'StrategyIds=1,2', { StrategyIds: [1, 2] }],
    [
      'names a list with bad elements as it was sent, and once',
      'GetStrategyActiveOrders',
      'StrategyIds=1,,x',
      ['1102 StrategyIds'],
    ],
    ['names a list whose text is no id', 'GetStrategyOpenPositions', 'StrategyIds=abc', ['1102 StrategyIds']],
    ['names a text with NUL', 'SearchAccounts', 'Account=A%00&Phone=%00', ['1130 Account', '1130 Phone']],
    ['names a mandatory text with NUL', 'GetDashBoard', 'PersonId=1&Account=%00', ['1130 Account']],
    ['names an id with NUL', 'GetAutotraders', 'StrategyId=1%00', ['1130 StrategyId']],
    ['names a date with NUL', 'SearchStrategies', 'CreatedBeforeDate=%00', ['1130 CreatedBeforeDate']],
    [
      'refuses a code it does not know',
      'GetStrategyActiveOrders',
      'StrategyIds=1&OrderType=4',
      ['1130 OrderType'],
    ],
    ['refuses a code of the wrong case', 'GetLeaderBoard', 'SecurityType=cs', ['1130 SecurityType']],
    ['needs one of two', 'GetStrategyHistoricalOrders', 'OrderStatus=2', ['1128 StrategyId']],
    ['counts a refused value as given', 'GetStrategyHistoricalOrders', 'SignalId=x', ['1130 SignalId']],
    [
      'takes a range of one moment, the last of its second',
      'GetStrategyHistoricalOrders',
      'StrategyId=1&StartDate=2024-01-01T00:00:00.999Z&EndDate=2024-01-01T00:00:00Z',
      { StrategyId: 1, StartDate: 1_704_067_200_999, EndDate: 1_704_067_200_999, ...page },
    ],
    ['needs the strategy of closed trades', 'GetStrategyHistoricalClosedTrades', '', ['1128 StrategyId']],
    ['needs more than dates', 'GetSubscriptionRevenue', 'StartDate=2024-01-01', ['1128 StrategyId']],
    [
      'defaults the commission plan',
      'GetStrategyHistoricalEquity',
      'StrategyId=1',
      { StrategyId: 1, CommissionPlan: '0' },
    ],
    [
      'refuses plan 2',
      'GetStrategyHistoricalEquity',
      'StrategyId=1&CommissionPlan=2',
      ['1130 CommissionPlan'],
    ],
    ['refuses NUL', 'GetAutoTradeOpenPositions', 'Account=a%00b', ['1130 Account']],
    [
      'refuses text beyond its length',
      'GetAutoTradeOpenPositions',
      `Account=${'x'.repeat(257)}`,
      ['1130 Account'],
    ],
    [
      'knows no prototype',
      'GetStrategyDetails',
      'StrategyId=1&__proto__=1&constructor=1',
      ['1130 __proto__', '1130 constructor'],
    ],
  ])('%s', (_name, operation, text, expected) => {
    expect(read(operation, query(text))).toEqual(expected)
  })

  test.each(['abc', '1.0', '1e3', '0x10', '+5', ' 5', '5 ', '5;', '٣', '1,000', '--1', 'null'])(
    'refuses %j as an id',
    (text) => {
      expect(read('GetStrategyDetails', new Map([['StrategyId', [text]]]))).toEqual(['1102 StrategyId'])
      expect(read('GetAutotraders', new Map([['StrategyId', [text]]]))).toEqual(['1130 StrategyId'])
    },
  )

  test.each(['True', 'TRUE', '1', '0', 'true1', 'yes', ''])('refuses %j as a boolean', (text) => {
    expect(read('GetBrokers', new Map([['IncludeDisabled', [text]]]))).toEqual(['1130 IncludeDisabled'])
  })

  test('knows a parameter on its hosts only', () => {
    expect(read('GetProfile', query('IncludeIconInResponse=true'))).toEqual(['1130 IncludeIconInResponse'])
    expect(read('GetProfile', query('IncludeIconInResponse=true'), 'native', 'WL')).toEqual({
      IncludeIconInResponse: true,
    })
  })

  test('lists at most twenty faults', () => {
    const many = new Map(Array.from({ length: 50 }, (_, index) => [`p${index}`, ['1']]))
    expect(read('GetAccessKey', many)).toHaveLength(20)
  })
})

describe('dates', () => {
  const at = (text: string) => Date.parse(text)
  test.each([
    ['2024-03-10', at('2024-03-10T00:00:00Z')],
    ['2024-03-10T15:30:00Z', at('2024-03-10T15:30:00Z')],
    ['2024-03-10T15:30:00', at('2024-03-10T15:30:00Z')],
    ['2024-03-10T15:30:00+14:00', at('2024-03-10T01:30:00Z')],
    ['2024-03-10T15:30:00.123456Z', at('2024-03-10T15:30:00.123Z')],
    ['2024-02-29', at('2024-02-29T00:00:00Z')],
    ['0001-01-01T00:00:00', at('0001-01-01T00:00:00Z')],
    ['0099-12-31', at('0099-12-31T00:00:00Z')],
    ['9999-12-31T23:59:59.999Z', at('9999-12-31T23:59:59.999Z')],
  ])('reads %s', (text, expected) => {
    expect(read('SearchStrategies', new Map([['CreatedBeforeDate', [text]]]))).toMatchObject({
      CreatedBeforeDate: expected,
    })
  })

  test.each([
    '2026-02-30',
    '2023-02-29',
    '2026-13-01',
    '2026-01-01T24:00:00Z',
    '2016-12-31T23:59:60Z',
    '1709251200',
    '10000-01-01',
    '0000-01-01',
    '0001-01-01T00:00:00+14:00',
    '9999-12-31T23:59:59-01:00',
    '2026-1-1',
    '2026-01-01T10:00:00 02:00',
    'tomorrow',
  ])('refuses %s', (text) => {
    expect(read('SearchStrategies', new Map([['CreatedBeforeDate', [text]]]))).toEqual([
      '1130 CreatedBeforeDate',
    ])
  })

  test('says what became of the plus of an offset', () => {
    const words = (date: string) => {
      const answer = reader('SearchStrategies')(query(`CreatedBeforeDate=${date}`))
      return 'faults' in answer ? answer.faults.map(({ Message }) => Message) : answer.params
    }
    const known = 'Must be an ISO 8601 date or date-time'
    expect(words('2026-01-01T10:00:00+02:00')).toEqual([`${known}; in a query + is %2B`])
    expect(words('2026-02-30')).toEqual([known])
  })

  test.each([
    ['2024-03-10', '2024-03-10T23:59:59.999Z'],
    ['2024-03-10T15:30:00Z', '2024-03-10T15:30:00.999Z'],
    ['2024-03-10T15:30:00.250Z', '2024-03-10T15:30:00.250Z'],
  ])('ends with the whole of %s', (text, expected) => {
    const input = query(`StrategyId=1&EndDate=${text}`)
    expect(read('GetStrategyHistoricalOrders', input)).toMatchObject({ EndDate: at(expected) })
  })

  test('refuses an end before its start, and takes a range of one day', () => {
    expect(
      read('GetStrategyHistoricalOrders', query('StrategyId=1&StartDate=2024-01-02&EndDate=2024-01-01')),
    ).toEqual(['1128 EndDate'])
    expect(
      read('GetStrategyHistoricalOrders', query('StrategyId=1&StartDate=2024-01-02&EndDate=2024-01-02')),
    ).toHaveProperty('EndDate')
  })
})

describe('exact numbers', () => {
  test('every double is read from its own text', () => {
    fc.assert(
      fc.property(fc.double({ noNaN: true, noDefaultInfinity: true }), (value) => {
        expect(exactNumber(String(value).replace('e+', 'e'))).toBe(Object.is(value, -0) ? 0 : value)
      }),
    )
  })

  test('trailing zeros and exponents change nothing', () => {
    fc.assert(
      fc.property(fc.integer({ min: -1e9, max: 1e9 }), fc.integer({ min: 0, max: 8 }), (units, zeros) => {
        expect(exactNumber(`${units}.${'0'.repeat(zeros + 1)}`)).toBe(units + 0)
        expect(exactNumber(`${units}e-4`)).toBe(Number(`${units}e-4`) + 0)
      }),
    )
  })

  test('a body full of zeros is read in linear time', () => {
    const start = process.cpuUsage()
    expect(exactNumber(`1${'0'.repeat(250_000)}1`)).toBeUndefined()
    expect(exactNumber(`0.1${'0'.repeat(250_000)}1`)).toBeUndefined()
    expect(exactNumber(`1.${'0'.repeat(250_000)}`)).toBe(1)
    // Microseconds of this process alone, however busy the machine is.
    expect(process.cpuUsage(start).user).toBeLessThan(10_000_000)
  })

  test.each([
    '0.1000000000000000055',
    '9007199254740993',
    '1e400',
    '1e-400',
    'NaN',
    'Infinity',
    '',
    '1.',
    '.5',
    '01',
    '0x1',
    '1_0',
  ])('refuses %j', (text) => {
    expect(exactNumber(text)).toBeUndefined()
  })
})
