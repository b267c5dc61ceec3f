/** What happens in a life: orders of the strategy, prices, time, a broker's whims, and switches that are turned. */
import { instant } from '../../src/storage/database/wire.ts'
import { allowOpening } from '../../src/storage/mirror/setups.ts'
import { type Act, dbOf, followerOf, type Life, nowOf, say, under } from './switched-life.ts'
import { startAgain, switchActs } from './switched-turns.ts'
import { endSignal, place } from './world.ts'

const heldBy = async (life: Life): Promise<number> =>
  (
    await dbOf(life).read.one<{ held: number }>`
      select coalesce((select quantity from position where strategy_id = ${life.strategyId}
        and instrument_id = ${life.instrumentId}), 0)::float8 as held`
  ).held

/** At market, at a limit or at a stop, beside the market by a few ticks of either sign. */
function termsOf(bid: number, pick: number, side: '1' | '2'): { limit?: string; stop?: string } {
  const away = 1 + (pick % 3)
  const kind = pick % 5
  if (kind < 2) return {}
  if (kind < 4) return { limit: String(bid + (pick % 7) - 3) }
  return { stop: String(side === '1' ? bid + 1 + away : bid - away) }
}

const order: Act = async (life, pick) => {
  // The interface refuses orders of a strategy that is disabled.
  if (life.isStrategyOff) return
  const { strategyId, instrumentId, signals, bid } = life
  const held = await heldBy(life)
  const side = pick % 2 === 0 ? '1' : '2'
  const closes = held * (side === '1' ? 1 : -1) < 0
  const wanted = 1 + (pick % 9)
  signals.push(
    await place(life.world, {
      strategyId,
      instrumentId,
      side,
      positionEffect: closes ? 'C' : 'O',
      quantity: String(closes ? Math.min(wanted, Math.abs(held)) : wanted),
      goodTillCanceled: true,
      ...termsOf(bid, pick, side),
    }),
  )
}

/** What protects all that is held: a stop and a limit, as one order each. */
const exit: Act = async (life, pick) => {
  const held = await heldBy(life)
  if (held === 0 || life.isStrategyOff) return
  const { strategyId, instrumentId, bid } = life
  const away = (1 + (pick % 4)) * (held > 0 ? 1 : -1)
  life.signals.push(
    await place(life.world, {
      strategyId,
      instrumentId,
      side: held > 0 ? '2' : '1',
      positionEffect: 'C',
      quantity: String(Math.abs(held)),
      goodTillCanceled: true,
      ...(pick % 2 === 0 ? { stop: String(bid - away) } : { limit: String(bid + away) }),
    }),
  )
}

interface Resting {
  readonly side: '1' | '2'
  readonly positionEffect: 'O' | 'C'
  readonly quantity: number
  readonly limit: string | null
}

/** The owner gives an order another price, and one that opens another size. */
const replace: Act = async (life, pick) => {
  const id = life.signals[pick % Math.max(1, life.signals.length)] ?? 0
  if (life.isStrategyOff) return
  const live = await dbOf(life).transaction(async (tx) => {
    const row = await tx.maybe<Resting>`
      select s.side, s.position_effect as "positionEffect", s.order_qty::float8 as quantity, s.limit_px as limit
      from signal s join strategy t on t.id = s.strategy_id
      where s.id = ${id} and s.status = '0' and s.ord_type <> '1' for no key update of t`
    if (row) await endSignal(tx, id, '5', instant(nowOf(life)))
    return row
  })
  if (!live) return
  const { side, positionEffect, quantity, limit } = live
  const { strategyId, instrumentId, bid } = life
  const away = side === '1' ? 2 + (pick % 3) : -1 - (pick % 3)
  life.signals.push(
    await place(life.world, {
      strategyId,
      instrumentId,
      side,
      positionEffect,
      quantity: String(positionEffect === 'O' ? 1 + (pick % 9) : quantity),
      replaces: id,
      goodTillCanceled: true,
      ...(limit === null ? { stop: String(bid + away) } : { limit: String(bid + (pick % 7) - 3) }),
    }),
  )
}

const cancel: Act = (life, pick) =>
  dbOf(life).transaction(async (tx) => {
    const id = life.signals[pick % Math.max(1, life.signals.length)] ?? 0
    const live = await tx.maybe`
      select s.id from signal s join strategy t on t.id = s.strategy_id
      where s.id = ${id} and s.status in ('0', '1') for no key update of t`
    if (live) await endSignal(tx, id, '4', instant(nowOf(life)))
  })

const otherActs: Record<string, Act> = {
  order,
  exit,
  replace,
  cancel,
  startAgain,
  quote: (life, pick) => {
    life.bid = 95 + (pick % 11)
    return say(life)
  },
  syncToOpen: (life, pick) =>
    under(life, (tx) => allowOpening(tx, [followerOf(life, pick).setupId], nowOf(life))),
  hold: async (life, pick) => {
    life.isHeld = pick % 2 === 0
    life.world.paper.controls.hold(life.isHeld)
  },
  cut: async (life, pick) => {
    life.isCut = pick % 2 === 0
    life.world.paper.controls.down(life.isCut)
  },
  lose: async ({ border }, pick) => {
    border.isLosing = pick % 2 === 0
  },
  reject: async (life, pick) => life.world.paper.controls.reject(followerOf(life, pick).accountId, 'no'),
  partial: async (life, pick) => life.world.paper.controls.partial(followerOf(life, pick).accountId, '1'),
  step: ({ world }, pick) => world.steps[pick % world.steps.length]!.run(world.ctx),
  work: ({ world }) => world.drain(),
  wait: async ({ world }, pick) => {
    world.clock.time += (1 + (pick % 40)) * 1_000
  },
  /** Whatever was claimed may be claimed again. */
  forget: ({ world }) => world.ctx.db.write.run`
    update account_order set claimed_until = clock_timestamp() - interval '1 second' where claimed_until is not null`,
  /** A switch is turned while a call to the broker is under way. */
  amid: async (life, pick) => {
    const names = Object.keys(switchActs)
    const name = names[pick % names.length]!
    life.border.amid = () => switchActs[name]!(life, Math.floor(pick / names.length))
  },
}

export const acts: Record<string, Act> = { ...otherActs, ...switchActs }

/** The broker answers again, and what it has to say is heard. */
export async function mend(life: Life): Promise<void> {
  const { world, border } = life
  life.isHeld = false
  life.isCut = false
  border.isLosing = false
  border.amid = null
  world.paper.controls.hold(false)
  world.paper.controls.down(false)
  await world.ctx.db.write.run`update lease set expires_at = clock_timestamp()`
  await world.drain()
}
