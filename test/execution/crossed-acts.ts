/** What happens in a life of `crossed-lives.test.ts`: people, brokers, the market, time, and workers that die. */
import { expect } from 'vitest'
import { dec } from '../../src/domain/decimal.ts'
import { enterActions } from '../../src/execution/orders/enter-actions.ts'
import { enterDelistings } from '../../src/execution/orders/enter-delistings.ts'
import { nextDue } from '../../src/execution/orders/expiries.ts'
import { newTally } from '../../src/execution/tally.ts'
import { peopleActs } from './crossed-people.ts'
import { type Act, type Crossed, type Dice, markets, say, yes } from './crossed-world.ts'

const external: Act = async (life, dice) => {
  const { work, brokerId, prices } = life
  const { symbol } = dice(markets)
  const known = await life.db.read.maybe`
    select from instrument where symbol = ${symbol} and ended_at is null
      and (due_at is null or due_at > ${new Date(life.clock.time).toISOString()}::timestamptz)`
  if (!known) return
  const side = dice(['1', '2'] as const)
  const about = { accountId: dice(life.accounts).id, brokerId, clientOrderId: null, symbol, side } as const
  return work.controls.execution(work.ctx, {
    ...about,
    quantity: dec(dice([1, 2, 5])),
    px: dec(prices.get(symbol) ?? 1),
  })
}

const anExecution = (life: Crossed, dice: Dice): Promise<{ execId: string } | undefined> =>
  life.db.read.maybe<{ execId: string }>`
    select exec_id as "execId" from execution
    where account_id = ${dice(life.accounts).id}::bigint and busts is null and not is_inferred
    order by id desc offset ${dice([0, 0, 1, 3])}::int limit 1`

const bust: Act = async (life, dice) => {
  const found = await anExecution(life, dice)
  if (found) await life.work.controls.bust(life.work.ctx, found.execId)
}

const repeat: Act = async (life, dice) => {
  const found = await anExecution(life, dice)
  if (found) await life.work.controls.duplicate(life.work.ctx, found.execId)
}

/** What has not arrived yet arrives in the opposite order. */
const reorder: Act = ({ db }) => db.write.run`
  with late as (update paper_report set is_delivered = true where not is_delivered returning *)
  insert into broker_report (broker_id, report_key, account_id, client_order_id, kind, symbol, side, quantity, px,
    text, occurred_at, cum_qty)
  select broker_id, report_key, account_id, client_order_id, kind, symbol, side, quantity, px, text, occurred_at, cum_qty
  from late order by id desc on conflict (broker_id, account_id, report_key) do nothing`

const restrict: Act = (life, dice) => {
  const { work, brokerId } = life
  const kind = dice(['marginCall', 'restriction'] as const)
  return work.controls.notice(work.ctx, { brokerId, accountId: dice(life.accounts).id, kind, text: null })
}

const days = ['2024-03-12', '2024-03-13', '2024-03-14', '2024-03-15', '2024-03-18'] as const

/** Announced, of today, or entered late. */
const split: Act = async (life, dice) => {
  const [units, old] = dice([
    [2, 1],
    [3, 2],
    [1, 3],
  ] as const)
  const symbol = dice(['AAPL', 'ZZZ'])
  const wish = { kind: 'split', symbol, day: dice(days), new: dec(units), old: dec(old) } as const
  await enterActions(life.work.ctx, [wish])
}

const dividend: Act = (life, dice) =>
  enterActions(life.work.ctx, [
    { kind: 'dividend', symbol: dice(['AAPL', 'ZZZ']), day: dice(days), amount: dec(dice(['0.37', '1.01'])) },
  ])

const delist: Act = (life, dice) =>
  enterDelistings(life.work.ctx, [{ symbol: 'ZZZ', day: dice(['2024-03-13', '2024-03-14']) }])

const quote: Act = async (life, dice) => {
  const { symbol, type, begins } = dice(markets)
  const now = life.prices.get(symbol) ?? begins
  const step = type === 'option' ? 0.3 : 1
  const next = now + step * dice([-4, -2, -1, 1, 2, 4])
  life.prices.set(symbol, Math.max(step, Math.round(next * 100) / 100))
  await say(life, symbol)
}

/** Time with a worker at work: it stops wherever time makes work. */
export async function pass(life: Crossed, until: number): Promise<void> {
  const { work, worker, clock } = life
  const least = (until - clock.time) / 5
  for (;;) {
    const due = await nextDue(work.ctx)
    if (due === undefined || due > until) break
    const next = due <= clock.time ? due : Math.max(due, Math.min(until, clock.time + least))
    const isLater = next > clock.time
    if (isLater) clock.time = next
    await free(life)
    if ((await worker.drain()) === 0 && !isLater) break
  }
  clock.time = Math.max(clock.time, until)
}

/** What was claimed is claimed no more, and no dead worker keeps a lease. */
export async function free({ db }: Crossed): Promise<void> {
  await db.write.run`
    update account_order set claimed_until = clock_timestamp() - interval '1 second' where claimed_until is not null`
  await db.write.run`update lease set expires_at = clock_timestamp()`
}

const die: Act = async (life, dice) => {
  const { ctx, steps } = life.work
  let left = dice([1, 2, 3, 4, 5])
  const transaction: typeof life.db.transaction = async (work, options) => {
    left -= 1
    if (left > 0) return life.db.transaction(work, options)
    if (left % 2 === 0) await life.db.transaction(work, options)
    throw new Error('killed')
  }
  const dying = {
    ...ctx,
    tally: newTally(),
    workerId: `dying${life.clock.time}`,
    db: { ...life.db, transaction },
  }
  await dice(steps)
    .run(dying)
    .catch((error: Error) => expect(error.message).toMatch(/killed|cannot be done for somebody/))
  await life.db.write.run`update lease set expires_at = clock_timestamp()`
}

const hour = 3_600_000

export const acts: Record<string, Act> = {
  ...peopleActs,
  external,
  bust,
  repeat,
  reorder,
  restrict,
  split,
  dividend,
  delist,
  quote,
  die,
  refuse: async ({ stubborn }, dice) => stubborn.refuse(dice([0, 0, 1, 2, 3])),
  hold: async ({ work }, dice) => work.controls.hold(dice(yes)),
  cut: async ({ work }, dice) => work.controls.down(dice(yes)),
  reject: async ({ work, accounts }, dice) => work.controls.reject(dice(accounts).id, 'no'),
  partial: async ({ work, accounts }, dice) =>
    work.controls.partial(dice(accounts).id, dice(['0', '1', '2'])),
  step: ({ work }, dice) => dice(work.steps).run(work.ctx),
  work: async (life) => {
    await free(life)
    await life.worker.drain()
  },
  wait: async (life, dice) => {
    life.clock.time += dice([1, 5, 20, 31, 70]) * 1_000
  },
  hours: (life, dice) => pass(life, life.clock.time + dice([1, 3, 7]) * hour),
  night: async (life, dice) => {
    const until = Math.ceil((life.clock.time - 14 * hour) / (24 * hour)) * 24 * hour + 14 * hour
    if (dice([true, true, false])) await pass(life, until)
    else life.clock.time = until
    await say(life)
  },
}

export const weights: Record<string, number> = {
  order: 22,
  exit: 6,
  replace: 6,
  cancel: 3,
  desired: 3,
  quote: 14,
  settings: 3,
  stop: 1,
  step: 12,
  work: 12,
  wait: 5,
  die: 5,
  split: 3,
  bust: 3,
  delist: 1,
  night: 3,
}
