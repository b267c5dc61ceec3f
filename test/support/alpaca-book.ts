/**
 * The books of a stand-in for Alpaca: accounts with cash, positions, orders, executions and a history, kept by
 * Alpaca's rules as far as the platform meets them. It knows nothing of the platform; what it holds at the end of a
 * test is what the platform must have come to.
 */
import { randomUUID } from 'node:crypto'

export interface BookOrder {
  id: string
  client_order_id: string
  symbol: string
  asset_class: string
  side: 'buy' | 'sell'
  type: string
  time_in_force: string
  qty: string
  limit_price: string | null
  stop_price: string | null
  filled_qty: string
  filled_avg_price: string | null
  status: string
  replaces: string | null
  replaced_by: string | null
  updated_at: string
}

export interface BookExecution {
  readonly id: string
  readonly orderId: string
  readonly symbol: string
  readonly side: 'buy' | 'sell'
  qty: number
  price: number
  isBusted: boolean
}

/** An event as the stream tells it. */
export type BookEvent = Record<string, unknown> & { readonly event: string; readonly order: BookOrder }

export interface BookAccount {
  readonly number: string
  readonly keyId: string
  secret: string
  cash: number
  status: string
  isBlocked: boolean
  readonly orders: Map<string, BookOrder>
  readonly executions: Map<string, BookExecution>
  /** The history, oldest first. */
  readonly history: Record<string, unknown>[]
}

/** A request that Alpaca refuses. */
export class Refusal extends Error {
  readonly status: number
  readonly code: number

  constructor(status: number, code: number, message: string) {
    super(message)
    this.status = status
    this.code = code
  }
}

export const isOpen = ({ status }: BookOrder): boolean =>
  ['accepted', 'new', 'partially_filled', 'pending_cancel'].includes(status)

/** Builds the books; `now` dates what happens, `tell` hears every event. */
export function createBooks(now: () => number, tell: (account: BookAccount, event: BookEvent) => void) {
  const accounts = new Map<string, BookAccount>()
  const moment = (): string => new Date(now()).toISOString()

  const emit = (account: BookAccount, event: string, order: BookOrder, more: object = {}): void => {
    order.updated_at = moment()
    tell(account, { event, timestamp: order.updated_at, order: { ...order }, ...more } as BookEvent)
  }

  const change = (account: BookAccount, order: BookOrder, status: string): void => {
    order.status = status
    emit(account, status === 'partially_filled' ? 'partial_fill' : status, order)
  }

  const standing = (account: BookAccount, orderId: string): BookExecution[] =>
    [...account.executions.values()].filter((one) => one.orderId === orderId && !one.isBusted)

  /** Totals of an order after its executions have changed. */
  const total = (account: BookAccount, order: BookOrder): void => {
    const executions = standing(account, order.id)
    const filled = executions.reduce((sum, { qty }) => sum + qty, 0)
    const value = executions.reduce((sum, { qty, price }) => sum + qty * price, 0)
    order.filled_qty = String(filled)
    order.filled_avg_price = filled === 0 ? null : String(value / filled)
  }

  const move = (account: BookAccount, { side, qty, price }: BookExecution, sign: 1 | -1): void => {
    account.cash -= (side === 'buy' ? 1 : -1) * sign * qty * price
  }

  const note = (account: BookAccount, order: BookOrder, type: string, id: string, more: object): void => {
    account.history.push({
      event_id: String(account.history.length).padStart(26, '0'),
      at: moment(),
      activity_type: 'TRD',
      executed_at: moment(),
      ref_id: id,
      status: 'executed',
      details: {
        execution_type: type,
        order_id: order.id,
        client_order_id: order.client_order_id,
        symbol: order.symbol,
        side: order.side,
        cum_qty: order.filled_qty,
        order_status: order.status,
      },
      ...more,
    })
  }

  const execute = (account: BookAccount, order: BookOrder, qty: number, price: number): string => {
    if (!isOpen(order)) throw new Error(`the order is ${order.status}`)
    const execution: BookExecution = {
      id: randomUUID(),
      orderId: order.id,
      symbol: order.symbol,
      side: order.side,
      qty,
      price,
      isBusted: false,
    }
    account.executions.set(execution.id, execution)
    move(account, execution, 1)
    total(account, order)
    order.status = Number(order.filled_qty) >= Number(order.qty) ? 'filled' : 'partially_filled'
    const said = { qty: String(qty), price: String(price) }
    note(account, order, order.status === 'filled' ? 'fill' : 'partial_fill', execution.id, said)
    const event = order.status === 'filled' ? 'fill' : 'partial_fill'
    emit(account, event, order, { execution_id: execution.id, ...said })
    return execution.id
  }

  const place = (
    account: BookAccount,
    body: Record<string, string>,
    replaces: BookOrder | null,
  ): BookOrder => {
    const clientOrderId = body.client_order_id ?? randomUUID()
    if ([...account.orders.values()].some((one) => one.client_order_id === clientOrderId))
      throw new Refusal(422, 40010001, 'client_order_id must be unique')
    const order: BookOrder = {
      id: randomUUID(),
      client_order_id: clientOrderId,
      asset_class: 'us_equity',
      symbol: body.symbol ?? '',
      side: body.side as 'buy' | 'sell',
      type: body.type ?? '',
      time_in_force: body.time_in_force ?? 'day',
      qty: body.qty ?? '',
      limit_price: body.limit_price ?? null,
      stop_price: body.stop_price ?? null,
      filled_qty: '0',
      filled_avg_price: null,
      status: 'new',
      updated_at: moment(),
      replaces: replaces?.id ?? null,
      replaced_by: null,
    }
    if (!(Number(order.qty) > 0)) throw new Refusal(422, 40010001, 'qty must be > 0')
    account.orders.set(order.id, order)
    return order
  }

  return {
    accounts,
    open(number: string, keyId: string, secret: string, cash = 100_000): BookAccount {
      const account: BookAccount = {
        number,
        keyId,
        secret,
        cash,
        status: 'ACTIVE',
        isBlocked: false,
        orders: new Map(),
        executions: new Map(),
        history: [],
      }
      accounts.set(keyId, account)
      return account
    },
    place(account: BookAccount, body: Record<string, string>): BookOrder {
      const order = place(account, body, null)
      emit(account, 'new', order)
      return order
    },
    replace(account: BookAccount, old: BookOrder, body: Record<string, string>): BookOrder {
      if (!['new', 'partially_filled'].includes(old.status))
        throw new Refusal(422, 42210000, `order in ${old.status} status cannot be changed`)
      const { symbol, side, type, limit_price, stop_price, time_in_force, qty } = old
      const kept = { symbol, side, type, time_in_force, qty }
      const prices = { ...(limit_price && { limit_price }), ...(stop_price && { stop_price }) }
      const order = place(account, { ...kept, ...prices, ...body }, old)
      old.replaced_by = order.id
      change(account, old, 'replaced')
      emit(account, 'new', order)
      return order
    },
    cancel(account: BookAccount, order: BookOrder, isSlow: boolean): void {
      if (!isOpen(order)) throw new Refusal(422, 42210000, 'order is not cancelable')
      change(account, order, isSlow ? 'pending_cancel' : 'canceled')
    },
    /** Ends an order: canceled, expired, rejected. */
    end: change,
    execute,
    bust(account: BookAccount, executionId: string): void {
      const [execution, order] = named(account, executionId)
      take(account, execution, order)
      const told = { qty: String(execution.qty), price: String(execution.price), previous_id: executionId }
      note(account, order, 'trade_bust', randomUUID(), told)
      emit(account, 'trade_bust', order, { previous_execution_id: executionId })
    },
    correct(account: BookAccount, executionId: string, qty: number, price: number): string {
      const [execution, order] = named(account, executionId)
      take(account, execution, order)
      const id = randomUUID()
      const anew: BookExecution = { ...execution, id, qty, price, isBusted: false }
      account.executions.set(id, anew)
      move(account, anew, 1)
      total(account, order)
      const said = { qty: String(qty), price: String(price) }
      note(account, order, 'trade_correct', id, { ...said, previous_id: executionId })
      emit(account, 'trade_correct', order, { execution_id: id, previous_execution_id: executionId, ...said })
      return id
    },
  }

  function named(account: BookAccount, executionId: string): [BookExecution, BookOrder] {
    const execution = account.executions.get(executionId)
    const order = execution && account.orders.get(execution.orderId)
    if (!execution || !order || execution.isBusted) throw new Error(`no execution ${executionId} stands`)
    return [execution, order]
  }

  function take(account: BookAccount, execution: BookExecution, order: BookOrder): void {
    execution.isBusted = true
    move(account, execution, -1)
    total(account, order)
  }
}

export type Books = ReturnType<typeof createBooks>

/** What the account holds, signed, by symbol; flat ones left out. */
export function positionsOf(account: BookAccount): Map<string, number> {
  const held = new Map<string, number>()
  for (const { symbol, side, qty, isBusted } of account.executions.values()) {
    if (!isBusted) held.set(symbol, (held.get(symbol) ?? 0) + (side === 'buy' ? qty : -qty))
  }
  return new Map([...held].filter(([, quantity]) => quantity !== 0))
}
