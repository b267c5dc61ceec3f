import { describe, expect, test } from 'vitest'
import { reportsOfActivity, reportsOfOrder, reportsOfUpdate, standingOf } from './reports.ts'
import { readAccount, readActivity, readAll, readOrder, readPosition, readTradeUpdate } from './wire.ts'

const source = { brokerId: 3, accountId: 7, now: 1_000 }
const said = {
  id: 'o1',
  client_order_id: 'LST-1-S1-0',
  symbol: 'AAPL',
  side: 'buy',
  type: 'limit',
  status: 'new',
  filled_qty: '0',
  filled_avg_price: null,
  replaces: null,
  replaced_by: null,
  asset_class: 'us_equity',
}
const orderOf = (more: object) => {
  const order = readOrder({ ...said, ...more })
  if (!order) throw new Error('malformed')
  return order
}

describe('how an order stands', () => {
  test.each<[string, object, object | null]>([
    ['accepted', {}, { status: '0', cumQty: '0', avgPx: null }],
    ['partially_filled', { filled_qty: '2', filled_avg_price: '49.5' }, { status: '1', avgPx: '49.5' }],
    ['pending_cancel', { filled_qty: '2', filled_avg_price: '49.5' }, { status: '1', cumQty: '2' }],
    ['filled', { filled_qty: '6', filled_avg_price: '50' }, { status: '2', cumQty: '6' }],
    ['canceled', { filled_qty: '2', filled_avg_price: '50' }, { status: '4', cumQty: '2' }],
    ['expired', {}, { status: 'C' }],
    ['rejected', {}, { status: '8' }],
    ['replaced', {}, { status: '5' }],
    ['accepted', { replaces: 'o0' }, { status: 'A' }],
    ['new', { replaces: 'o0' }, { status: '0' }],
    ['sleeping', {}, null],
  ])('%s', (status, more, expected) => {
    const standing = standingOf(orderOf({ ...more, status }))
    if (expected === null) expect(standing).toBeNull()
    else expect(standing).toMatchObject(expected)
  })
})

describe('what is told', () => {
  test('an order tells that it is there and how it ended, under keys of its own', () => {
    const keys = (status: string, more: object = {}) =>
      reportsOfOrder(source, orderOf({ ...more, status })).map(
        ({ kind, reportKey }) => `${kind} ${reportKey}`,
      )
    expect(keys('new')).toEqual(['ack new:o1'])
    expect(keys('filled')).toEqual(['ack new:o1'])
    expect(keys('canceled')).toEqual(['ack new:o1', 'cancel canceled:o1'])
    expect(keys('rejected')).toEqual(['reject rejected:o1'])
    expect(keys('accepted', { replaces: 'o0' })).toEqual([])
    expect(keys('sleeping')).toEqual([])
  })

  const fill = {
    event: 'fill',
    order: { ...said, filled_qty: '5' },
    execution_id: 'e1',
    qty: '2',
    price: '49.5',
  }
  const heard = (more: object) => {
    const update = readTradeUpdate({ ...fill, ...more })
    return update && reportsOfUpdate(source, update)
  }

  test('the stream and the history tell the same execution under the same key', () => {
    const activity = readActivity({
      ref_id: 'e1',
      qty: '2',
      price: '49.5',
      details: {
        execution_type: 'partial_fill',
        order_id: 'o1',
        client_order_id: 'LST-1-S1-0',
        symbol: 'AAPL',
        side: 'buy',
        cum_qty: '5',
      },
    })
    expect(activity && reportsOfActivity(source, activity)).toEqual(heard({}))
    expect(heard({})).toMatchObject([
      {
        kind: 'fill',
        reportKey: 'e1',
        side: '1',
        quantity: '2',
        px: '49.5',
        cumQty: '5',
        accountId: 7,
        brokerId: 3,
      },
    ])
  })

  test('half a share for half a dollar is an execution', () => {
    expect(heard({ qty: '0.5', price: '0.45' })).toMatchObject([{ quantity: '0.5', px: '0.45' }])
  })

  test('an execution without a time happened when it was heard of', () => {
    const at = '2024-03-12T14:00:00.5Z'
    expect(heard({})).toMatchObject([{ occurredAt: source.now }])
    expect(heard({ timestamp: at })).toMatchObject([{ occurredAt: Date.parse(at) }])
    // What a clock says that was never set.
    for (const never of ['0001-01-01T00:00:00Z', '0000-01-01T00:00:00Z'])
      expect(heard({ timestamp: never })).toMatchObject([{ occurredAt: source.now }])
  })

  test('a correction is a cancellation and an execution', () => {
    const told = heard({ event: 'trade_correct', execution_id: 'e2', previous_execution_id: 'e1', qty: '1' })
    expect(told).toMatchObject([
      { kind: 'bust', reportKey: 'e2/corrects', text: 'e1' },
      { kind: 'fill', reportKey: 'e2', quantity: '1' },
    ])
    expect(heard({ event: 'trade_bust', previous_execution_id: 'e1' })).toMatchObject([
      { kind: 'bust', text: 'e1' },
    ])
  })

  test.each<[string, object]>([
    ['no id', { execution_id: null }],
    ['no quantity', { qty: null }],
    ['a quantity of zero', { qty: '0' }],
    ['a negative price', { price: '-1' }],
    ['a cancellation of nothing', { event: 'trade_bust' }],
    ['a correction of nothing', { event: 'trade_correct' }],
  ])('nothing is made of an execution with %s', (_, more) => {
    expect(heard(more)).toBeNull()
  })

  test('money that has moved is not a trade', () => {
    expect(readActivity({ ref_id: 't1', details: { entry_type: 'DIV' }, net_amount: '12' })).toBeUndefined()
  })
})

describe('what cannot be read', () => {
  test.each<[string, unknown]>([
    ['nothing', null],
    ['a list', []],
    ['no id', { ...said, id: '' }],
    ['no id of ours', { ...said, client_order_id: 7 }],
    ['an unknown side', { ...said, side: 'both' }],
    ['NaN', { ...said, filled_qty: 'NaN' }],
    ['a number that is none', { ...said, filled_qty: Number.NaN }],
    ['an exponent', { ...said, filled_qty: '1e3' }],
    ['less than nothing', { ...said, filled_qty: '-1' }],
    ['a price that is none', { ...said, filled_avg_price: 'x' }],
  ])('an order: %s', (_, value) => {
    expect(readOrder(value)).toBeNull()
  })

  const [good, account] = [
    { symbol: 'AAPL', qty: '3', side: 'long' },
    { account_number: 'A1', status: 'ACTIVE', currency: 'EUR', cash: '12.5' },
  ]

  const details = { execution_type: 'fill', order_id: 'o1', symbol: 'AAPL', side: 'sell', cum_qty: '2' }
  const activity = { ref_id: 'e1', qty: '2', price: '49.5' }

  test.each<[string, unknown]>([
    ['nothing', null],
    ['an unknown type', { ...activity, details: { ...details, execution_type: 'nap' } }],
    ['no id', { ...activity, ref_id: '', details }],
    ['no order', { ...activity, details: { ...details, order_id: 7 } }],
    ['no symbol', { ...activity, details: { ...details, symbol: null } }],
    ['an unknown side', { ...activity, details: { ...details, side: 'both' } }],
    ['a quantity that is none', { ...activity, qty: '1e3', details }],
    ['a price that is none', { ...activity, price: 'NaN', details }],
    ['a total that is none', { ...activity, details: { ...details, cum_qty: 'x' } }],
  ])('an execution of the history: %s', (_, value) => {
    expect(readActivity(value)).toBeNull()
  })

  test('what was sold is told without a sign, and without a total where none is known', () => {
    const sold = readActivity({ ...activity, qty: '-2', details: { ...details, cum_qty: undefined } })
    expect(sold).toMatchObject({ type: 'fill', side: '2', quantity: '2', price: '49.5', cumQty: null })
  })

  test.each<[string, unknown]>([
    ['nothing', null],
    ['a list', [good]],
    ['no symbol', { ...good, symbol: '' }],
    ['no quantity', { ...good, qty: null }],
    ['no side', { ...good, side: undefined }],
    ['an unknown side', { ...good, side: 'flat' }],
  ])('a position: %s', (_, value) => {
    expect(readPosition(value)).toBeNull()
  })

  test.each<[string, unknown]>([
    ['nothing', undefined],
    ['a list', [account]],
    ['no number', { ...account, account_number: 7 }],
    ['no status', { ...account, status: '' }],
    ['a currency that is none', { ...account, currency: 1 }],
    ['cash that is none', { ...account, cash: 'NaN' }],
  ])('an account: %s', (_, value) => {
    expect(readAccount(value)).toBeNull()
  })

  test('an account that says no currency is one of dollars', () => {
    const read = { number: 'A1', status: 'ACTIVE', isBlocked: false, currency: 'EUR', cash: '12.5' }
    expect(readAccount(account)).toEqual(read)
    expect(readAccount({ ...account, currency: null, trading_blocked: true })).toEqual({
      ...read,
      currency: 'USD',
      isBlocked: true,
    })
    expect(readAccount({ ...account, account_blocked: true })?.isBlocked).toBe(true)
  })

  test('one malformed position spoils the list', () => {
    expect(readAll([good], readPosition)).toEqual([{ symbol: 'AAPL', quantity: '3' }])
    expect(readAll([good, { ...good, qty: 'NaN' }], readPosition)).toBeNull()
    expect(readAll({ message: 'ok' }, readPosition)).toBeNull()
  })

  test.each<[string, string, string]>([
    ['3', 'short', '-3'],
    ['-3', 'short', '-3'],
    ['3', 'long', '3'],
  ])('a position of %s, %s, is %s', (qty, side, quantity) => {
    expect(readPosition({ symbol: 'AAPL', qty, side })).toEqual({ symbol: 'AAPL', quantity })
  })
})
