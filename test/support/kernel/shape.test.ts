import { expect, test } from 'vitest'
import { kernel } from '../kernel.ts'

const market = { id: 'a', side: '1', type: '1', qty: 1, t: 0 }
const bar = { t: 0, o: 9, h: 10, l: 8, c: 9 }
const signal = {
  signalId: 1,
  symbol: 'A',
  side: '1',
  openClose: 'O',
  type: '2',
  quantity: 5,
  limit: 10,
}
const copy = { ...signal, clientOrderId: 'x', leaves: 5 }
const stock = { cls: 'CS', symbol: 'A', quantity: 10, price: 10 }

const synced = (changes: { orders?: object[]; copies?: object[]; settings?: object; finished?: object }) => ({
  strategy: { orders: changes.orders ?? [signal], finishedSignals: changes.finished ?? {} },
  account: { orders: changes.copies ?? [copy] },
  classes: { A: 'CS' },
  settings: { CS: changes.settings ?? {} },
})
const sized = (settings: unknown) => ({ assetClass: 'CS', strategyQuantity: 1, settings })
const reported = (report: object) => ({ orderQuantity: 10, reports: [report] })
const returned = (members: object) => ({ statistic: 'beta', returns: [0.1, 0.2, 0.3], ...members })

test.each([
  ['fills.quotes', { orders: [market], quotes: [{ t: 1, bid: 'NaN', ask: 10 }] }, 'quotes[0].bid is "NaN"'],
  ['fills.bars', { orders: [{ ...market, qty: 'Infinity' }], bars: [bar] }, 'orders[0].qty is "Infinity"'],
  ['accounting.run', { cash: Number.POSITIVE_INFINITY, events: [] }, 'cash is Infinity; a number is needed'],
  ['accounting.run', { cash: '0x10', events: [] }, 'cash is "0x10"'],
  ['margin.compute', { positions: [{ ...stock, price: true }] }, 'positions[0].price is true'],
  ['margin.compute', { positions: [{ ...stock, symbol: 5 }] }, 'positions[0].symbol is 5; a text is needed'],
  ['margin.compute', { positions: stock }, 'positions is {'],
  ['margin.compute', { positions: [null] }, 'positions[0] is null; an object is needed'],
  ['margin.leverage', { days: [[{ positions: [stock] }]] }, 'days[0][0].modelAccountValue is missing'],
  ['stats.returns', { statistic: 'sharpe', returns: 'abc' }, 'returns is "abc"; a list is needed'],
  ['stats.returns', { statistic: 'sharpe', returns: [0.1, 'x'] }, 'returns[1] is "x"'],
  ['stats.drawdown', { values: [1, {}] }, 'values[1] is {}'],
  ['stats.equity', { startDate: 'abc', startingCash: 1, equity: [] }, 'startDate is "abc"; a date is needed'],
  ['mirror.target', sized({ long: 'false' }), 'settings.long is "false"; true or false is needed'],
  ['mirror.target', sized([]), 'settings is []; an object is needed'],
  ['mirror.target', 7, 'the input is 7'],
  ['mirror.sync', synced({ settings: { enabled: 0 } }), 'settings.CS.enabled is 0'],
  [
    'mirror.sync',
    synced({ finished: { 2: { status: '2' } } }),
    'strategy.finishedSignals.2.ageSec is missing',
  ],
  [
    'mirror.classifyExternal',
    { prefix: '', executions: [{ clientOrderId: true }] },
    'executions[0].clientOrderId',
  ],
  ['calendar', { op: 'isOpen', calendar: 'US_EQUITY', at: 'noon' }, 'at is "noon"; a date-time is needed'],
  ['calendar', { op: 'isOpen', calendar: 'MARS', at: '2024-03-12T14:00:00Z' }, 'calendar is "MARS"'],
  ['commission.compute', { plan: 2, fills: [] }, 'plan is 2'],
  ['fees.highWaterMark', { events: [{ type: 'gift', amount: 1 }], rate: 0.2 }, 'events[0].type is "gift"'],
  ['broker.applyReports', reported({ execId: 'e', cumQty: 5 }), 'reports[0].ordStatus is missing'],
])('%s names the place in %j', (op, input, message) => {
  expect(() => kernel(op, input)).toThrow(`${op}: ${message}`)
})

// A quantity has no sign: a buy of less than nothing was booked as a sale.
test.each([
  [
    'accounting.run',
    { cash: 1, events: [{ type: 'fill', symbol: 'A', side: '1', qty: -5, px: 1, t: 1 }] },
    'events[0].qty',
  ],
  ['fills.bars', { orders: [{ ...market, qty: -1 }], bars: [bar] }, 'orders[0].qty'],
  ['order.run', { order: { qty: -1 }, steps: [] }, 'order.qty'],
  ['mirror.sync', synced({ copies: [{ ...copy, leaves: -1 }] }), 'account.orders[0].leaves'],
  ['mirror.target', sized({ scalingPercentage: -50 }), 'settings.scalingPercentage'],
  ['broker.applyReports', reported({ ordStatus: '1', cumQty: -1 }), 'reports[0].cumQty'],
  ['fees.highWaterMark', { events: [{ type: 'deposit', amount: -5 }], rate: 0.2 }, 'events[0].amount'],
])('%s takes nothing below zero where %j has no side', (op, input, place) => {
  expect(() => kernel(op, input)).toThrow(`${op}: ${place} is -`)
})

test('what the rules themselves refuse or pass over is answered by them', () => {
  const submitted = { position: 0, steps: [{ op: 'submit', id: 1, side: '1', qty: -5 }] }
  expect(kernel('book.run', submitted)).toMatchObject({ steps: [{ outcome: 'refused' }] })
  const filled = { order: { status: '0', orderQuantity: 10 }, event: { event: 'FILL', qty: -5, px: 1 } }
  expect(kernel('order.apply', filled)).toMatchObject({ outcome: 'ignored' })
})

test.each([
  ['fills.quotes', { orders: [market, market] }, 'orders[1].id is that of orders[0] again: a'],
  ['fills.bars', { orders: [market, market] }, 'orders[1].id'],
  ['mirror.sync', synced({ orders: [signal, signal] }), 'strategy.orders[1].signalId'],
  ['mirror.sync', synced({ copies: [copy, copy] }), 'account.orders[1].clientOrderId'],
  [
    'stats.equity',
    {
      startDate: '2024-03-11',
      startingCash: 1,
      equity: ['2024-03-12', '2024-03-12'].map((date) => ({ date, value: 2 })),
    },
    'equity[1].date',
  ],
])('%s tells what is there twice in %j', (op, input, message) => {
  expect(() => kernel(op, input)).toThrow(`${op}: ${message}`)
})

test('orders that wait for each other are refused, not followed for ever', () => {
  const orders = [
    { ...market, parent: 'b' },
    { ...market, id: 'b', parent: 'a' },
  ]
  expect(() => kernel('fills.bars', { orders, bars: [bar] })).toThrow('orders[0].parent leads back')
})

test('values that go with returns are as many', () => {
  expect(() => kernel('stats.returns', returned({ benchmark: [0.1, 0.2] }))).toThrow(
    'benchmark has 2 values; returns has 3',
  )
  expect(() => kernel('stats.returns', returned({ riskFree: [0.1] }))).toThrow('riskFree has 1')
  const alone = { statistic: 'totalReturn', returns: [1], benchmark: [], riskFree: [] }
  expect(kernel('stats.returns', alone)).toEqual({ value: 1 })
})

test('what every object inherits is neither an op nor a statistic', () => {
  expect(() => kernel('toString', {})).toThrow('unknown kernel op toString')
  expect(() => kernel('stats.returns', returned({ statistic: 'toString' }))).toThrow('unknown statistic')
})

test('a result that JSON cannot carry is not printed as null', () => {
  const split = { position: { quantity: 1e300, avgPx: 1 }, new: 1e300, old: 1 }
  expect(() => kernel('corporate.split', split)).toThrow('no number in JSON')
})

const stoppedOut = (sign: unknown) => ({
  ...synced({ copies: [] }),
  excludedSymbols: ['A'],
  excludedSigns: { A: sign },
  strategy: { positions: { A: -5 }, orders: [] },
})
const valued = (riskFreeAnnual: unknown) => ({
  startDate: '2024-03-12',
  startingCash: 1000,
  riskFreeAnnual,
  equity: [1010, 990, 1020].map((value, at) => ({ date: `2024-03-${13 + at}`, value })),
})
const external = (members: object) => ({ prefix: 'LS', ledgers: [5], mismatchAgeSec: 70, ...members })

// Read as text, "0.02" was put behind a 1, "-1" was another sign than -1, and "0" orders were some.
test.each([
  ['mirror.sync', stoppedOut('-1'), stoppedOut(-1)],
  ['stats.equity', valued('0.02'), valued(0.02)],
  ['mirror.classifyExternal', external({ inFlight: '0' }), external({ inFlight: 0 })],
])('%s reads a number that is written as text like the number', (op, text, numbers) => {
  expect(kernel(op, text)).toEqual(kernel(op, numbers))
})

test.each([
  [
    'order.apply',
    {
      order: { status: '1', orderQuantity: 10, executions: [{ execId: 7, qty: 5 }] },
      event: { event: 'BUST', execId: 7 },
    },
    { outcome: 'applied' },
  ],
  [
    'mirror.classifyExternal',
    { prefix: 'LS', executions: [{ clientOrderId: 7 }] },
    { reason: 'ExternalExecution' },
  ],
])('%s needs no more than what it decides from in %j', (op, input, answer) => {
  expect(kernel(op, input)).toMatchObject(answer)
})
