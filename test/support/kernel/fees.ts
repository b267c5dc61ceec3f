/** The performance fee over plain JSON: fees.highWaterMark. */

import { applyFeeEvent, type FeeEvent, noFeeUnits } from '../../../src/domain/billing/high-water-mark.ts'
import { dec } from '../../../src/domain/decimal.ts'
import { type Num, print } from './numbers.ts'
import type { KernelOp } from './types.ts'

interface FeeInput {
  events: { type: FeeEvent['type']; amount?: Num | null; value?: Num | null }[]
  rate: Num
}

/** A value that comes along with another event is the account's value just before it. */
function eventsOf({ type, amount, value }: FeeInput['events'][number]): FeeEvent[] {
  const valued: FeeEvent[] =
    value === undefined || value === null ? [] : [{ type: 'value', value: dec(value) }]
  if (type === 'value') return valued
  if (type === 'crystallise') return [...valued, { type }]
  return [...valued, { type, amount: dec(amount ?? 0) }]
}

function highWaterMark({ events, rate }: FeeInput) {
  let holding = noFeeUnits
  const crystallisations = []
  for (const event of events.flatMap(eventsOf)) {
    const step = applyFeeEvent(holding, event, dec(rate))
    holding = step.holding
    if (!step.crystallisation) continue
    const { fee, valueAfter, highWaterMarkPerUnit } = step.crystallisation
    crystallisations.push({
      fee: print(fee),
      valueAfter: print(valueAfter),
      highWaterMarkPerUnit: print(highWaterMarkPerUnit),
    })
  }
  return { crystallisations }
}

export const feeOps: Record<string, KernelOp> = { 'fees.highWaterMark': highWaterMark }
