/** Desired positions over plain JSON. A working order tells its side and leaves only where they matter. */
import type { PositionEffect, Side } from '../../../src/domain/codes.ts'
import { dec } from '../../../src/domain/decimal.ts'
import { planDesired } from '../../../src/domain/orders/desired.ts'
import { openCloseOf, sideOf } from './codes.ts'
import { type Num, print } from './numbers.ts'
import type { KernelOp } from './types.ts'

interface DesiredInput {
  currentPositions?: Record<string, Num>
  workingOrders?: {
    signalId: number | string
    symbol: string
    openClose?: PositionEffect | null
    side?: Side | number
    leaves?: Num
    diesWith?: number | string | null
    fromDesired?: boolean
  }[]
  positions: { symbol: string; quantity: Num }[]
  zeroMeansFlat?: boolean
}

function desiredPositions({
  currentPositions = {},
  workingOrders = [],
  positions,
  ...options
}: DesiredInput) {
  const plan = planDesired({
    current: new Map(Object.entries(currentPositions).map(([symbol, quantity]) => [symbol, dec(quantity)])),
    working: workingOrders.map((order) => ({
      signalId: order.signalId,
      symbol: order.symbol,
      side: sideOf(order.side ?? '1'),
      positionEffect: openCloseOf(order.openClose) ?? 'O',
      leaves: dec(order.leaves ?? 0),
      diesWith: order.diesWith ?? null,
      fromDesired: order.fromDesired ?? false,
    })),
    desired: positions.map(({ symbol, quantity }) => ({ symbol, quantity: dec(quantity) })),
    zeroMeansFlat: options.zeroMeansFlat ?? false,
  })
  if (typeof plan === 'string') return { error: 400, refusal: plan }
  return {
    newOrders: plan.newOrders.map(({ quantity, positionEffect, ...order }) => ({
      ...order,
      openClose: positionEffect,
      qty: print(quantity),
    })),
    canceledSignals: plan.canceled,
    reducedSignals: plan.reduced.map(({ signalId, leaves }) => ({ signalId, leaves: print(leaves) })),
  }
}

export const desiredOps: Record<string, KernelOp> = { 'strategy.desiredPositions': desiredPositions }
