/** The input of the mirroring ops: sizes, copies, AutoSync and what is shown of a follower's account. */
import { openClose, securityClass, side, type } from './code-shapes.ts'
import {
  code,
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
} from './shape.ts'

const settings = members({
  scalingPercentage: size,
  enabled: flag,
  long: flag,
  short: flag,
  min: size,
  max: size,
  maxDollars: size,
  lot: size,
  closingOrdersOnly: flag,
})
const signal = members({
  signalId: required(id),
  symbol: required(name),
  side: required(side),
  openClose: required(openClose),
  type: required(type),
  quantity: required(size),
  filled: size,
  limit: number,
  stop: number,
  doNotSyncToOpen: flag,
  ocaGroup: id,
  replaces: id,
})
const accountOrder = members({
  clientOrderId: required(id),
  signalId: id,
  symbol: required(name),
  side: required(side),
  openClose: required(openClose),
  type,
  leaves: required(size),
  executed: size,
  filledBefore: size,
  limit: number,
  stop: number,
})
/** How long ago a signal ended matters only where it was filled. */
const finished: Shape = (value, place) => {
  members({ status: id, ageSec: size, doNotSyncToOpen: flag })(value, place)
  if (`${memberOf(value, 'status')}` === '2') members({ ageSec: required(size) })(value, place)
}
const traded = { qty: size, open: number, close: number, commission: number }

export const mirrorShapes = {
  'mirror.target': members({
    assetClass: required(securityClass),
    strategyQuantity: required(number),
    settings,
    heldQuantity: number,
    referencePrice: number,
  }),
  'mirror.orderQuantity': members({
    assetClass: required(securityClass),
    strategyPosition: required(number),
    signedQuantity: required(number),
    filled: number,
    filledBefore: number,
    openClose: required(openClose),
    accountPosition: required(number),
    executed: number,
    settings,
    referencePrice: number,
  }),
  'mirror.sync': members({
    strategy: required(
      members({
        positions: named(number),
        orders: distinct('signalId', signal),
        finishedSignals: named(finished),
      }),
    ),
    account: required(members({ positions: named(number), orders: distinct('clientOrderId', accountOrder) })),
    classes: required(named(securityClass)),
    settings: required(named(settings)),
    willSyncToOpen: named(flag),
    excludedSymbols: rows(name),
    excludedSigns: named(code('1', '-1')),
    chaseFilled: flag,
    referencePrices: named(number),
    closingOrdersOnly: flag,
    isSyncEnabled: flag,
    driftGraceSecs: size,
  }),
  'mirror.autoStopLoss': members({
    accountQuantity: required(number),
    avgPx: number,
    dollars: size,
    pointValue: positive,
    fx: positive,
    tick: positive,
  }),
  'mirror.classifyExternal': members({
    prefix: required(name),
    ledgers: rows(number),
    brokerPosition: number,
    executions: rows(members({ clientOrderId: id })),
    inFlight: either(flag, size),
    mismatchAgeSec: size,
    graceSecs: size,
    ignoreManualOrders: flag,
  }),
  'mirror.executionGap': members({
    leader: required(members({ openSide: side, ...traded })),
    follower: required(members(traded)),
    scalingPercentage: required(size),
    pointValue: positive,
    fx: positive,
  }),
}
