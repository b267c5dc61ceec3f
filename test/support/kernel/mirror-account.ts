/** Ops about a follower's account: auto stop loss, broker reports, external activity, execution gap. */

import type { OrdStatus, Side } from '../../../src/domain/codes.ts'
import { dec } from '../../../src/domain/decimal.ts'
import { autoStopLoss } from '../../../src/domain/mirror/auto-stop-loss.ts'
import {
  type ExecutionReport,
  foldReports,
  type GapTimeout,
} from '../../../src/domain/orders/broker-reports.ts'
import { executionGap } from '../../../src/domain/orders/execution-gap.ts'
import { externalActivity } from '../../../src/domain/positions/external-activity.ts'
import { oneOf, sideOf, statusOf } from './codes.ts'
import { type Maybe, orNull, orZero } from './mirror-settings.ts'
import { type Num, print } from './numbers.ts'

export function autoStopLossOp(input: {
  accountQuantity: number
  avgPx?: Maybe
  dollars?: Maybe
  pointValue?: Maybe
  fx?: Maybe
  tick?: Maybe
}) {
  const found = autoStopLoss({
    quantity: dec(input.accountQuantity),
    averagePrice: orZero(input.avgPx),
    dollars: orNull(input.dollars),
    pointValue: dec(input.pointValue ?? 1),
    exchangeRate: dec(input.fx ?? 1),
    tick: dec(input.tick ?? 0.01),
  })
  return {
    stop: found ? print(found.stop) : null,
    side: found?.side ?? null,
    quantity: found ? print(found.quantity) : 0,
  }
}

type PlainReport = {
  event?: 'REPORT' | 'GAP_TIMEOUT'
  execId?: string | number | null
  ordStatus: OrdStatus
  cumQty?: Maybe
  avgPx?: Maybe
  lastQty?: Maybe
  lastPx?: Maybe
}

function reportOf(read: PlainReport): ExecutionReport | GapTimeout {
  const event = oneOf('event', read.event ?? 'REPORT', ['REPORT', 'GAP_TIMEOUT'])
  if (event === 'GAP_TIMEOUT') return { event }
  return {
    event,
    execId: read.execId === null || read.execId === undefined ? null : `${read.execId}`,
    ordStatus: statusOf(read.ordStatus, 'ordStatus'),
    cumQty: orZero(read.cumQty),
    avgPx: orNull(read.avgPx || null),
    lastQty: orZero(read.lastQty),
    lastPx: orZero(read.lastPx),
  }
}

export function applyReportsOp(input: { orderQuantity: number; reports: PlainReport[] }) {
  const order = foldReports(dec(input.orderQuantity), input.reports.map(reportOf))
  return {
    status: order.status,
    filledQuantity: print(order.filledQuantity),
    avgFillPrice: order.averagePrice?.toNumber() ?? null,
    duplicates: order.duplicates,
    missingQuantity: print(order.missingQuantity),
    overfill: print(order.overfill),
    inferredQuantity: print(order.inferredQuantity),
  }
}

export function classifyExternalOp(input: {
  prefix: string
  ledgers?: number[]
  brokerPosition?: Maybe
  executions?: { clientOrderId?: string | number | null }[]
  inFlight?: boolean | Num
  mismatchAgeSec?: Maybe
  graceSecs?: Maybe
  ignoreManualOrders?: boolean
}) {
  const reason = externalActivity({
    prefix: input.prefix,
    ledgers: (input.ledgers ?? []).map(dec),
    brokerPosition: orZero(input.brokerPosition),
    executions: (input.executions ?? []).map(({ clientOrderId }) =>
      clientOrderId === undefined || clientOrderId === null ? null : String(clientOrderId),
    ),
    isInFlight: typeof input.inFlight === 'boolean' ? input.inFlight : !dec(input.inFlight ?? 0).isZero(),
    mismatchAgeSeconds: input.mismatchAgeSec ?? 0,
    graceSeconds: input.graceSecs ?? 60,
    ignoreManualOrders: input.ignoreManualOrders ?? false,
  })
  return { isSyncEnabled: reason === null, reason }
}

type PlainTrade = { openSide?: Side; qty?: Maybe; open?: Maybe; close?: Maybe; commission?: Maybe }

const tradeOf = (read: PlainTrade) => ({
  quantity: orZero(read.qty),
  open: orZero(read.open),
  close: orZero(read.close),
  commission: orZero(read.commission),
})

export function executionGapOp(input: {
  leader: PlainTrade
  follower: PlainTrade
  scalingPercentage: number
  pointValue?: Maybe
  fx?: Maybe
}) {
  const { ideal, quantity, entry, exit, fees, total, actual } = executionGap(
    sideOf(input.leader.openSide ?? '1'),
    tradeOf(input.leader),
    tradeOf(input.follower),
    dec(input.scalingPercentage),
    dec(input.pointValue ?? 1).times(dec(input.fx ?? 1)),
  )
  return {
    quantity: print(quantity),
    entry: print(entry),
    exit: print(exit),
    fees: print(fees),
    total: print(total),
    ideal: print(ideal),
    actual: print(actual),
  }
}
