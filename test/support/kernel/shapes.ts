/** The input of every op: which members must be there and what each may hold. */
import { openClose, securityClass, side, status, type } from './code-shapes.ts'
import { mirrorShapes } from './mirror-shapes.ts'
import {
  byCode,
  code,
  day,
  distinct,
  either,
  flag,
  id,
  memberOf,
  members,
  name,
  named,
  number,
  positive,
  required,
  rows,
  type Shape,
  size,
  time,
} from './shape.ts'

/** What an order cost does not move its status. */
const execution = members({ execId: id, qty: required(size), px: number, busted: flag })
const replacement = members({
  orderQuantity: required(size),
  filledQuantity: size,
  status: required(status),
})
const order = members({
  status: required(status),
  orderQuantity: required(size),
  filledQuantity: size,
  acknowledged: flag,
  held: flag,
  executions: rows(execution),
  replacement,
})
/** Below zero nothing happens: the rules say so. */
const plainEvent = members({
  order: id,
  qty: number,
  px: number,
  execId: id,
  newId: id,
  live: flag,
  reason: id,
})
const event = byCode('event', {
  ACK: plainEvent,
  REJECT: plainEvent,
  FILL: plainEvent,
  CANCEL_REQUEST: plainEvent,
  CANCEL_ACK: plainEvent,
  CANCEL_REJECT: plainEvent,
  REPLACE_REQUEST: plainEvent,
  REPLACE_ACK: plainEvent,
  REPLACE_REJECT: plainEvent,
  EXPIRE: plainEvent,
  UNSOLICITED_CANCEL: plainEvent,
  BUST: plainEvent,
})

const orders = {
  'order.apply': members({ order: required(order), event: required(event) }),
  'order.run': members({
    order: required(members({ qty: required(size), held: flag, tif: id })),
    steps: required(rows(event)),
  }),
}

/** A quantity that is not above zero is refused by the rules. */
const submission = members({
  id: required(id),
  side: required(side),
  type,
  qty: number,
  price: number,
  openClose,
  parent: id,
  profitTarget: number,
  stopLoss: number,
  doNotCreateOCAGroup: flag,
  ids: members({ pt: id, sl: id, oca: id }),
  openId: id,
})
const request = members({ id: required(id), newId: id, qty: number, price: number })

const book = {
  'book.run': members({
    position: number,
    steps: rows(
      byCode('op', {
        submit: submission,
        fill: request,
        cancel: request,
        expire: request,
        reject: request,
        replace: request,
      }),
    ),
  }),
}

const workingOrder = {
  id: required(id),
  side: required(side),
  type: required(type),
  qty: required(size),
  t: time,
  limit: number,
  stop: number,
  openClose,
}
const fillConfig = members({
  tick: size,
  slippageTicks: size,
  slippageBps: size,
  participation: size,
  maxQuoteAgeSec: size,
  maxTriggerSpread: size,
})
const quote = members({
  t: time,
  bid: required(number),
  ask: required(number),
  bidSize: size,
  askSize: size,
  open: flag,
})
const bar = members({
  t: time,
  o: required(number),
  h: required(number),
  l: required(number),
  c: number,
  v: size,
  session: flag,
})

const fills = {
  'fills.quotes': members({
    orders: distinct('id', members(workingOrder)),
    quotes: rows(quote),
    config: fillConfig,
  }),
  'fills.bars': members({
    orders: distinct('id', members({ ...workingOrder, parent: id, bracket: flag, oca: id })),
    bars: rows(bar),
    config: fillConfig,
    position: number,
  }),
  'fills.volumeShareSlippage': members({
    price: required(number),
    quantity: required(size),
    barVolume: size,
    volumeLimit: size,
    priceImpact: size,
    isForex: flag,
  }),
}

const calendars = {
  calendar: members({ op: required(name), calendar: required(name), at: required(name) }),
  'calendar.parkedRelease': members({ parkedUntilDate: required(name), now: required(name) }),
}

const booking = { symbol: required(name), t: id, fx: positive }
const money = {
  'accounting.run': members({
    cash: required(number),
    instruments: distinct(
      'symbol',
      members({ symbol: required(name), cls: securityClass, pointValue: positive }),
    ),
    events: required(
      rows(
        byCode('type', {
          fill: members({
            ...booking,
            side: required(side),
            qty: required(size),
            px: required(number),
            commission: number,
          }),
          mark: members({ ...booking, px: required(number) }),
          dividend: members({ ...booking, perUnit: required(number) }),
        }),
      ),
    ),
  }),
  'accounting.inferredFillPrice': members({
    position: required(number),
    avgPx: number,
    targetQuantity: required(number),
    targetAvgPx: number,
  }),
  'commission.compute': members({
    plan: required(
      either(
        code('0', '1', '3', '4', '5'),
        members({ perUnit: size, minPerOrder: size, pctOfNotional: size, maxPctOfNotional: size }),
      ),
    ),
    cls: securityClass,
    fills: required(rows(members({ qty: required(size), price: required(number), pointValue: positive }))),
  }),
  'fees.highWaterMark': members({
    events: required(
      rows(
        members({
          type: required(code('deposit', 'withdraw', 'value', 'crystallise')),
          amount: size,
          value: number,
        }),
      ),
    ),
    rate: required(size),
  }),
}

const position = members({
  cls: securityClass,
  symbol: name,
  quantity: required(number),
  price: required(number),
  avgPx: number,
  fx: positive,
  pointValue: positive,
  initialMargin: size,
  baseToAccount: size,
  leverage: positive,
  underlyingSymbol: name,
  right: id,
  strike: number,
  underlying: number,
  expiry: id,
  indexOption: flag,
})

const margin = {
  'margin.compute': members({ positions: required(rows(position)), modelAccountValue: number }),
  'margin.accept': members({
    modelAccountValue: required(number),
    positions: rows(position),
    positionsAfter: required(rows(position)),
    openClose,
    commission: number,
  }),
  'margin.leverage': members({
    days: required(rows(rows(members({ positions: rows(position), modelAccountValue: required(number) })))),
  }),
}

const corporate = {
  'corporate.split': members({
    position: required(either(number, members({ quantity: required(number), avgPx: number }))),
    avgPx: number,
    new: required(number),
    old: required(number),
    previousClose: number,
    orders: rows(members({ id, status, leaves: required(size), limit: number, stop: number })),
    tick: positive,
  }),
  'corporate.optionExpiry': members({
    quantity: required(number),
    strike: required(number),
    underlyingClose: required(number),
    pointValue: positive,
  }),
}

const execReport = members({
  execId: id,
  ordStatus: required(status),
  cumQty: size,
  avgPx: number,
  lastQty: size,
  lastPx: number,
})
/** A report that does not say what it is tells of an order. */
const report: Shape = (value, place) => {
  members({ event: code('REPORT', 'GAP_TIMEOUT') })(value, place)
  if (memberOf(value, 'event') !== 'GAP_TIMEOUT') execReport(value, place)
}

const others = {
  'broker.applyReports': members({ orderQuantity: required(size), reports: required(rows(report)) }),
  'strategy.desiredPositions': members({
    currentPositions: named(number),
    workingOrders: rows(
      members({ signalId: required(id), symbol: required(name), openClose, side, leaves: size }),
    ),
    positions: required(rows(members({ symbol: required(name), quantity: required(number) }))),
    zeroMeansFlat: flag,
  }),
}

const dated = distinct('date', members({ date: required(day), value: required(number), flow: number }))

const statistics = {
  'stats.returns': members({
    statistic: required(name),
    returns: required(rows(number)),
    benchmark: rows(number),
    riskFree: either(number, rows(number)),
    periodsPerYear: positive,
  }),
  'stats.equity': members({
    startDate: required(day),
    startingCash: required(number),
    equity: required(dated),
    benchmark: dated,
    riskFreeAnnual: number,
  }),
  'stats.trades': members({
    trades: required(
      rows(members({ openDate: required(time), closeDate: required(time), profitLoss: required(number) })),
    ),
  }),
  'stats.drawdown': members({ values: required(rows(number)) }),
}

export const shapes: ReadonlyMap<string, Shape> = new Map(
  Object.entries({
    ...orders,
    ...book,
    ...fills,
    ...calendars,
    ...money,
    ...margin,
    ...corporate,
    ...mirrorShapes,
    ...others,
    ...statistics,
  }),
)
