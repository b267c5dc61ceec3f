/** A broker that refuses one kind of request for as long as it is told to. */
import type { Answer, Broker, OrderName, OrderTicket } from '../../src/execution/brokers/broker.ts'

const kinds = ['place', 'replace', 'cancel'] as const
type Kind = (typeof kinds)[number]

/** What it was asked for and refused; `terms` are a quantity and a price, of a cancel nothing. */
interface Refused {
  readonly kind: Kind
  readonly clientOrderId: string
  readonly terms: string
}

/** So many refusals of one story are one question asked again and again. */
const endless = 300

const termsOf = (ticket: OrderName & Partial<OrderTicket>): string =>
  ticket.quantity === undefined
    ? ''
    : `${Number(ticket.quantity)} @${Number(ticket.limitPx ?? ticket.stopPx)}`

export class Stubborn {
  refuses: Kind | null = null
  /** Since it was last emptied. */
  asked: Refused[] = []

  /** One of the kinds, or none. */
  refuse(pick: number): void {
    this.refuses = [null, ...kinds][pick % (kinds.length + 1)]!
  }

  /** Stands between the platform and a broker. */
  readonly between = (broker: Broker): Broker => ({
    ...broker,
    place: (ctx, id, tickets, until) =>
      this.#hear('place', tickets, () => broker.place(ctx, id, tickets, until)),
    replace: (ctx, id, tickets, until) =>
      this.#hear('replace', tickets, () => broker.replace(ctx, id, tickets, until)),
    cancel: (ctx, id, orders, until) =>
      this.#hear('cancel', orders, () => broker.cancel(ctx, id, orders, until)),
  })

  async #hear(
    kind: Kind,
    orders: readonly (OrderName & Partial<OrderTicket>)[],
    ask: () => Promise<readonly Answer[]>,
  ): Promise<readonly Answer[]> {
    if (this.refuses !== kind) return ask()
    for (const order of orders) {
      this.asked.push({ kind, clientOrderId: order.clientOrderId, terms: termsOf(order) })
    }
    if (this.asked.length > endless) throw new Error('a refused order is asked for without end')
    return orders.map(() => ({ answer: 'rejected', text: 'never' }))
  }
}
