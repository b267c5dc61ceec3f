/**
 * Stories of an order book through the kernel. A line is one step: what is asked, the outcome, the position
 * after it, and every order that the step changed as `id status filled/quantity open-or-close`, with its
 * parent and its group, and in quotes why it ended. Exits of E are Et and El in group Eg; a reversal's second
 * order is E2.
 */
import { expect } from 'vitest'
import { bookOps } from './book.ts'

interface Shown {
  status: string
  orderQuantity: number
  filledQuantity: number
  openClose: string
  parentSignalId: string | null
  ocaGroup: string | null
  info: string | null
}

export interface Result {
  outcome: string
  refusal: string | null
  position: number
  orders: Record<string, Shown>
  alerts: unknown[]
}

/** Runs steps as plain JSON. */
export const call = (input: unknown) => (bookOps['book.run']!(input as never) as { steps: Result[] }).steps
const types: Record<string, string> = { market: '1', limit: '2', stop: '3' }

/** `submit E buy 100 limit 50 target=55 loss=45`, `fill E 40`, `replace E F 80 49`, `cancel E`. */
export function stepOf(text: string): Record<string, unknown> {
  const [op, id, ...words] = text.split(/\s+/)
  const plain = words.filter((word) => !word.includes('='))
  const named = Object.fromEntries(words.filter((word) => word.includes('=')).map((word) => word.split('=')))
  const number = (value: string | undefined) => (value === undefined ? undefined : Number(value))
  if (op === 'fill') return { op, id, qty: number(plain[0]) }
  if (op === 'replace') return { op, id, newId: plain[0], qty: number(plain[1]), price: number(plain[2]) }
  if (op !== 'submit') return { op, id }
  return {
    op,
    id,
    side: plain[0] === 'buy' ? '1' : '2',
    qty: number(plain[1]),
    type: types[plain[2] ?? 'market'],
    price: number(plain[3]),
    profitTarget: number(named.target),
    stopLoss: number(named.loss),
    openClose: named.as,
    parent: named.parent,
    doNotCreateOCAGroup: named.group === 'none',
    ids: { pt: `${id}t`, sl: `${id}l`, oca: `${id}g` },
    openId: `${id}2`,
  }
}

const show = ([id, order]: [string, Shown]): string =>
  [
    id,
    order.status,
    `${order.filledQuantity}/${order.orderQuantity}`,
    order.openClose,
    order.parentSignalId,
    order.ocaGroup,
    order.info && `"${order.info}"`,
  ]
    .filter((part) => part !== null)
    .join(' ')

/** Runs a story and compares every step with what the story tells. */
export function tell(position: number, story: string): void {
  const lines = story
    .trim()
    .split('\n')
    .map((line) => line.split('|').map((text) => text.trim()))
  let before = new Set<string>()
  const told = call({ position, steps: lines.map(([step = '']) => stepOf(step)) }).map((result, index) => {
    const orders = Object.entries(result.orders).map(show)
    const changed = orders.filter((order) => !before.has(order))
    before = new Set(orders)
    return [
      lines[index]?.[0] ?? '',
      result.refusal === null ? result.outcome : `refused ${result.refusal}`,
      String(result.position),
      changed.join(', '),
    ]
  })
  expect(told).toEqual(lines)
}

export type Story = [name: string, position: number, story: string]

/** A long entry with both exits, from flat. */
export const entry = `
    submit E buy 100 limit 50 target=55 loss=45 | applied | 0 | E 0 0/100 O, Et A 0/100 C E Eg, El A 0/100 C E Eg`

/** The same, filled. */
export const whole = `${entry}
    fill E 100  | applied | 100 | E 2 100/100 O, Et 0 0/100 C E Eg, El 0 0/100 C E Eg`

/** An order that others depend on. */
export const parent = `
    submit P buy 100 limit 50 | applied | 0 | P 0 0/100 O`
