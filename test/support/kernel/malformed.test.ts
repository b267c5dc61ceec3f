import { expect, test } from 'vitest'
import { kernel } from '../kernel.ts'

const market = { id: 'a', side: '1', type: '1', qty: 1, t: 0 }
const bar = { t: 0, o: 9, h: 10, l: 8, c: 9 }
const option = { quantity: 2, right: 'C', strike: 100, underlyingClose: 105, settlement: 'physical' }
const split = { position: { quantity: 101, avgPx: 50 }, new: 1, old: 10, previousClose: 5 }
const fill = { type: 'fill', symbol: 'A', side: '1', qty: 1, px: 10, t: 0 }
const working = { status: '0', orderQuantity: 10, filledQuantity: 0 }

const bars = (order: object) => ({ orders: [{ ...market, ...order }], bars: [bar] })
const quotes = (order: object) => ({ orders: [{ ...market, ...order }], quotes: [{ t: 1, bid: 9, ask: 10 }] })
const submitted = (step: object) => ({ steps: [{ op: 'submit', ...market, ...step }] })
const booked = (event: object) => ({ cash: 100, events: [{ ...fill, ...event }] })

const gap = (openSide: unknown) => ({
  leader: { openSide, qty: 10, open: 10, close: 12, commission: 1 },
  follower: { qty: 10, open: 10.5, close: 12, commission: 1 },
  scalingPercentage: 100,
})

/** A limit order of the strategy, partly filled like its copy: nothing to do. */
function synced({ side, type, status }: { side: unknown; type: unknown; status: unknown }) {
  const order = { signalId: 1, symbol: 'A', side, openClose: 'O', type, limit: 10 }
  return {
    strategy: {
      positions: { A: 4 },
      orders: [{ ...order, quantity: 10, filled: 4 }],
      finishedSignals: { 2: { status, ageSec: 5 } },
    },
    account: {
      positions: { A: 4 },
      orders: [{ ...order, clientOrderId: 'x', leaves: 6, executed: 4, filledBefore: 0 }],
    },
    classes: { A: 'CS' },
    settings: { CS: { scalingPercentage: 100 } },
  }
}

// A code that there is not used to be taken for the other one: "buy" sold, "Cash" settled an option for nothing.
test.each([
  ['fills.bars', bars({ side: 'buy' }), 'side is "buy"; there are 1, 2'],
  ['fills.bars', bars({ side: undefined }), 'side is missing'],
  ['fills.bars', bars({ openClose: 'open' }), 'openClose is "open"; there are O, C'],
  ['fills.quotes', quotes({ side: 'sell' }), 'side is "sell"'],
  ['fills.quotes', quotes({ type: 'market' }), 'type is "market"; there are 1, 2, 3'],
  ['fills.quotes', quotes({ type: '2' }), 'limit is missing'],
  ['fills.bars', bars({ type: '3', limit: 9 }), 'stop is missing'],
  ['book.run', submitted({ side: 'buy' }), 'side is "buy"'],
  ['book.run', submitted({ type: 'limit' }), 'type is "limit"'],
  ['book.run', submitted({ openClose: 'c' }), 'openClose is "c"'],
  ['book.run', submitted({ op: 'SUBMIT' }), 'op is "SUBMIT"; there are submit, fill'],
  ['accounting.run', booked({ side: 'buy' }), 'side is "buy"'],
  ['accounting.run', booked({ type: 'Mark' }), 'type is "Mark"'],
  [
    'order.apply',
    { order: { ...working, status: 'working' }, event: { event: 'ACK' } },
    'status is "working"',
  ],
  ['order.apply', { order: working, event: { event: 'FILLED', qty: 1 } }, 'event is "FILLED"'],
  ['order.apply', { order: working, event: { event: 'FILL', px: 1 } }, 'qty of the FILL is missing'],
  ['margin.compute', { positions: [{ cls: 'stock', quantity: 1, price: 1 }] }, 'cls is "stock"'],
  ['mirror.sync', synced({ side: 'buy', type: '2', status: '4' }), 'side is "buy"'],
  [
    'broker.applyReports',
    { orderQuantity: 10, reports: [{ ordStatus: 'filled', cumQty: 10 }] },
    'reports[0].ordStatus is "filled"',
  ],
  ['mirror.executionGap', gap('long'), 'leader.openSide is "long"'],
  ['mirror.target', { assetClass: 'stock', strategyQuantity: 1 }, 'assetClass is "stock"'],
  ['corporate.optionExpiry', { ...option, right: 'X' }, 'right is "x"'],
  ['corporate.optionExpiry', { ...option, right: undefined }, 'right is missing'],
  ['corporate.optionExpiry', { ...option, settlement: 'Cash' }, 'settlement is "Cash"'],
  ['corporate.split', { ...split, new: 0 }, 'new is 0; a ratio is positive'],
  ['corporate.split', { ...split, old: -2 }, 'old is -2'],
  ['corporate.split', { ...split, previousClose: undefined }, 'previousClose is missing'],
  ['stats.trades', { trades: [{ openDate: 0, closeDate: 1e308, profitLoss: 1 }] }, 'no time: 1e+308'],
])('%s refuses %j by name', (op, input, message) => {
  const failure = () => kernel(op, input)
  expect(failure).toThrow(`${op}: `)
  expect(failure).toThrow(message)
})

test.each([
  ['book.run', submitted({ qty: Number.NaN }), 'steps[0].qty'],
  ['fills.quotes', { ...quotes({}), config: { tick: 'small' } }, 'config.tick'],
  ['fills.bars', { orders: [market], bars: [{ ...bar, o: 'nine' }] }, 'bars[0].o'],
  [
    'fills.bars',
    { orders: [market], bars: [{ ...bar, t: Number.NaN }] },
    'bars[0].t is NaN; a time is needed',
  ],
  ['corporate.split', { ...split, position: { quantity: 'many', avgPx: 5 } }, 'position.quantity'],
])('%s names the member of %j that is no number', (op, input, name) => {
  const failure = () => kernel(op, input)
  expect(failure).toThrow(`${op}: `)
  expect(failure).toThrow(name)
})

test.each([
  ['mirror.sync', synced({ side: 1, type: 2, status: 4 }), synced({ side: '1', type: '2', status: '4' })],
  ['mirror.executionGap', gap(1), gap('1')],
  [
    'broker.applyReports',
    { orderQuantity: 10, reports: [{ ordStatus: 4, cumQty: 0 }] },
    { orderQuantity: 10, reports: [{ ordStatus: '4', cumQty: 0 }] },
  ],
])('%s reads a code that is a number like its text', (op, numbers, text) => {
  expect(kernel(op, numbers)).toEqual(kernel(op, text))
})

test('a right may be a letter, a word or its code', () => {
  const exercised = (right: unknown) => kernel('corporate.optionExpiry', { ...option, right })
  for (const call of ['C', 'c', 'call', 'CALL', 1, '1'])
    expect(exercised(call)).toMatchObject({ exercised: true })
  for (const put of ['P', 'p', 'put', 'PUT', 0, '0'])
    expect(exercised(put)).toMatchObject({ exercised: false })
})
