import { expect, test } from 'vitest'
import { dec, one, zero } from '../../domain/decimal.ts'
import type { BookedAction } from '../../storage/brokers/late-executions.ts'
import type { ReportedOrder, ReportRow } from '../../storage/brokers/reports.ts'
import { LateExecutions } from './late-executions.ts'

const [executed, midnight, opening] = [1_000, 2_000, 3_000]

const dividend: BookedAction = {
  id: 1,
  instrumentId: 1,
  currency: 'USD',
  kind: 'dividend',
  amount: one,
  newUnits: one,
  oldUnits: one,
  resizes: false,
  at: opening,
  dayFrom: midnight,
  close: null,
}
const split: BookedAction = { ...dividend, kind: 'split', amount: zero, newUnits: dec(2) }
const report: ReportRow = {
  id: 1,
  brokerId: 1,
  reportKey: 'one',
  accountId: 1,
  clientOrderId: null,
  kind: 'fill',
  symbol: 'A',
  side: '1',
  quantity: '3',
  px: '46',
  cumQty: '5',
  text: null,
  occurredAt: executed,
  instrumentId: 1,
  securityType: 'CS',
  pointValue: '1',
  currency: 'USD',
  isBusted: false,
  corrects: null,
}
const working: ReportedOrder = {
  accountId: 1,
  id: 1,
  setupId: 1,
  strategyId: 1,
  side: '1',
  instrumentId: 1,
  source: 'S',
  sourceId: 1,
  revision: 0,
  status: '1',
  attempts: 1,
  pendingAction: null,
  isAcknowledged: true,
  orderQty: '12',
  cumQty: '4',
  carriedQty: '0',
  filledValue: '192',
  replacesOrderId: null,
  endedAt: null,
}

test.each([
  ['is kept where nothing came since', [], working, { quantity: '3', cumQty: '5' }],
  ['is kept after a dividend', [dividend], working, { quantity: '3', cumQty: '5' }],
  ['is none of the new units of an order at work', [split], working, { quantity: '6', cumQty: null }],
  [
    'is kept for an order that had ended in old units',
    [split],
    { ...working, status: '4', endedAt: executed },
    { quantity: '3', cumQty: '5' },
  ],
] as const)('a broker’s count %s', (_, actions, order, expected) => {
  const given = { reports: [report], orders: [order], busted: [], standing: [] }
  const { reports } = new LateExecutions(actions, given).inPresentUnits(given, () => order)
  expect(reports).toMatchObject([expected])
})
