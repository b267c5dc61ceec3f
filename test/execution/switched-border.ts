/**
 * The border to the broker, and a plain model of the platform's switches that stands there: whatever goes out is held
 * against what was switched when it was claimed and against what its setup held then. The model knows nothing of how the
 * platform decides.
 */

import { parseClientOrderId } from '../../src/domain/orders/client-order-id.ts'
import type { Answer, Broker, OrderName, OrderTicket } from '../../src/execution/brokers/broker.ts'
import type { Database } from '../../src/storage/database/database.ts'

/** What stands in the way of one setup, in the words of the page on switches. */
export const obstacles = [
  'stop',
  'Autotrade off',
  'broker disabled',
  'openings off',
  'lapsed',
  'class off',
  'closing only',
  'AutoSync off',
] as const
export type Obstacle = (typeof obstacles)[number]

/** Those under which nothing goes out, not even what closes. */
export const standstill: readonly Obstacle[] = ['Autotrade off', 'broker disabled']
/** Those under which nothing opens or grows. */
export const forbidOpening: readonly Obstacle[] = [
  'stop',
  'Autotrade off',
  'broker disabled',
  'openings off',
  'lapsed',
  'class off',
  'closing only',
]

/** The switches as they stand: those of the platform and its broker, and by setup. */
export class Switches {
  isBrokerOff = false
  areOpeningsOff = false
  readonly #bySetup = new Map<number, Set<Obstacle>>()

  turn(setupId: number, what: Obstacle, isOn: boolean): void {
    const present = this.#bySetup.get(setupId) ?? new Set()
    this.#bySetup.set(setupId, present)
    if (isOn) present.add(what)
    else present.delete(what)
  }

  /** A copy: the switches may be turned while it is looked at. */
  of(setupId: number): Set<Obstacle> {
    const all = new Set(this.#bySetup.get(setupId))
    if (this.isBrokerOff) all.add('broker disabled')
    if (this.areOpeningsOff) all.add('openings off')
    return all
  }
}

type Kind = 'place' | 'replace' | 'cancel'
type Asked = OrderName & Partial<OrderTicket>

/** An order as its row says it, with all that its setup has at the broker beside it. */
interface Standing {
  readonly id: number
  readonly source: string
  readonly positionEffect: 'O' | 'C'
  readonly orderQty: number
  readonly replacedQty: number | null
  readonly isDisabled: boolean
  readonly isLeftOpen: boolean
  /** It has not been sent before. */
  readonly isFirst: boolean
  readonly isKnown: boolean
  readonly held: number
  /** When the order was decided. */
  readonly heldThen: number
  readonly closing: number
}

export interface BorderHooks {
  /** Something passed. */
  count(what: string): void
}

export class Border {
  switches = new Switches()
  /** What was wrong, in words. */
  wrongs: string[] = []
  /** Runs once, while a call to the broker is under way. */
  amid: (() => Promise<unknown>) | null = null
  /** Requests are lost on their way for as long as it is set: nobody knows what became of them. */
  isLosing = false
  /** Opening orders that have waited through a switch that forbids them. */
  kept = new Map<number, string>()
  readonly #db: Database
  readonly #hooks: BorderHooks

  constructor(db: Database, hooks: BorderHooks) {
    this.#db = db
    this.#hooks = hooks
  }

  readonly between = (broker: Broker): Broker => ({
    ...broker,
    place: (ctx, id, tickets, until) =>
      this.#pass('place', tickets, () => broker.place(ctx, id, tickets, until)),
    replace: (ctx, id, tickets, until) =>
      this.#pass('replace', tickets, () => broker.replace(ctx, id, tickets, until)),
    cancel: (ctx, id, orders, until) =>
      this.#pass('cancel', orders, () => broker.cancel(ctx, id, orders, until)),
  })

  async #pass(
    kind: Kind,
    asked: readonly Asked[],
    send: () => Promise<readonly Answer[]>,
  ): Promise<readonly Answer[]> {
    const claimed = asked.map((order) => ({
      order,
      switched: this.switches.of(parseClientOrderId(order.clientOrderId)!.setupId),
    }))
    for (const { order, switched } of claimed) await this.#judge(kind, order, switched)
    const turn = this.amid
    this.amid = null
    if (turn) await turn()
    if (!this.isLosing) return send()
    this.#hooks.count('request lost')
    return asked.map(() => ({ answer: 'unknown' }))
  }

  async #judge(kind: Kind, asked: Asked, switched: Set<Obstacle>): Promise<void> {
    const row = await this.#standing(asked)
    // A broker's own restriction counts from when it was heard.
    if (row.isDisabled) switched.add('Autotrade off')
    this.#hooks.count(`${kind}${kind === 'cancel' ? '' : ` ${row.positionEffect}`}`)
    const { source, orderQty, replacedQty, positionEffect } = row
    const grows = positionEffect === 'O' && (kind === 'place' || orderQty > (replacedQty ?? 0))
    const wrong = (why: string): void => {
      this.wrongs.push(
        `${kind} ${positionEffect} ${asked.clientOrderId} (${orderQty} after ${replacedQty}, ` +
          `holds ${row.held}, closing ${row.closing}) under [${[...switched]}]: ${why}`,
      )
    }
    if (switched.has('broker disabled')) wrong('nothing goes to a disabled broker')
    if (kind === 'cancel') return
    for (const one of standstill) if (switched.has(one)) wrong(`nothing goes out under ${one}`)
    for (const one of forbidOpening) if (grows && switched.has(one)) wrong(`nothing opens under ${one}`)
    if (grows && this.kept.has(row.id)) wrong(`had waited under ${this.kept.get(row.id)}`)
    if (source === 'Y' && switched.has('AutoSync off')) wrong('nothing is corrected under AutoSync off')
    if (switched.has('stop') && (row.isLeftOpen || source !== 'X')) wrong('its setup has stopped')
    if (row.isKnown) wrong('the broker has it already')
    if (kind === 'place' && positionEffect === 'C' && row.isFirst && row.held === 0)
      wrong('nothing is held any more')
    // What else was executed since it was decided is AutoSync's, which has not looked yet.
    const held = Math.max(Math.abs(row.held), Math.abs(row.heldThen))
    if (positionEffect === 'C' && row.closing > held) wrong('closes more than is held')
  }

  /**
   * `closing`: what works at the broker against what is held, this order included; a pair in replacement counts once, by
   * what it is to become, and what is being canceled no more.
   */
  #standing({ accountId, clientOrderId }: Asked): Promise<Standing> {
    const { setupId, source, sourceId, revision } = parseClientOrderId(clientOrderId)!
    return this.#db.read.one<Standing>`
      select o.id, o.source, o.position_effect as "positionEffect", o.order_qty::float8 as "orderQty",
        x.order_qty::float8 as "replacedQty", a.is_autotrade_disabled as "isDisabled",
        t.positions_left_open as "isLeftOpen", o.attempts = 1 as "isFirst",
        exists (select from paper_order p where p.account_id = o.account_id
          and p.client_order_id = ${clientOrderId}) as "isKnown",
        coalesce(p.quantity, 0)::float8 as held, o.held_qty::float8 as "heldThen", (
          select coalesce(sum(greatest(c.order_qty - c.cum_qty, 0)), 0)::float8 from account_order c
          where c.account_id = o.account_id and c.setup_id = o.setup_id and c.instrument_id = o.instrument_id
            and c.position_effect = 'C' and c.side = o.side and c.status in ('A', '0', '1', 'E')
            and (c.attempts > 0 or c.id = o.id or c.pending_action = 'replace')
            and not exists (select from account_order r where r.account_id = c.account_id
              and r.replaces_order_id = c.id and r.status in ('A', '0', '1', 'E'))) as closing
      from account_order o join account a on a.id = o.account_id join setup t on t.id = o.setup_id
        left join account_order x on x.account_id = o.account_id and x.id = o.replaces_order_id
          and o.pending_action = 'replace'
        left join account_position p on p.setup_id = o.setup_id and p.instrument_id = o.instrument_id
      where o.account_id = ${accountId} and o.setup_id = ${setupId} and o.source = ${source}
        and o.source_id = ${sourceId} and o.revision = ${revision}`
  }
}
