/** How a life of `crossed-lives.test.ts` comes to rest, and what must hold then. */
import { expect } from 'vitest'
import { type Decimal, dec, zero } from '../../src/domain/decimal.ts'
import { planSync } from '../../src/domain/mirror/mirror-sync-plan.ts'
import { confirmOrder, listWaitingOrders } from '../../src/storage/mirror/order-confirmations.ts'
import { syncCases } from '../../src/storage/mirror/sync-cases.ts'
import { loadSyncFacts } from '../../src/storage/mirror/sync-facts.ts'
import { auditViolations } from '../../src/storage/operating/audit.ts'
import { free, pass } from './crossed-acts.ts'
import { type Crossed, say } from './crossed-world.ts'

type Count = (what: string, by?: number) => void

async function settle(life: Crossed): Promise<void> {
  const { db, worker, clock } = life
  await free(life)
  await db.write.run`update paper_order set fill_cap = null, needs_match = true where status in ('0', '1')`
  await say(life)
  for (const { id } of await listWaitingOrders(db.read, clock.time))
    await confirmOrder(db.write, id, clock.time)
  await worker.drain()
}

async function minutes(life: Crossed): Promise<void> {
  for (let round = 0; round < 3; round += 1) {
    life.clock.time += 61_000
    await settle(life)
  }
}

const hour = 3_600_000

/** Ten in the morning of the first Tuesday to Thursday after now: everything is open. */
function nextMorning(now: number): number {
  for (let at = Math.ceil(now / (24 * hour)) * 24 * hour + 14.5 * hour; ; at += 24 * hour)
    if ([2, 3, 4].includes(new Date(at).getUTCDay())) return at
}

export async function comeToRest(life: Crossed): Promise<void> {
  const { work, stubborn, clock, db } = life
  work.controls.hold(false)
  work.controls.down(false)
  stubborn.refuses = null
  await free(life)
  await settle(life)
  // Past the last day of anything that ends.
  await pass(
    life,
    nextMorning(
      Math.max(clock.time, (life.prices.get('AAPL') ?? 0) % 2 === 0 ? Date.parse('2024-03-18T14:00:00Z') : 0),
    ),
  )
  await settle(life)
  for (let round = 0; round < 2; round += 1) {
    const live = await db.read.rows<{ id: number; strategyId: number }>`
      select id, strategy_id as "strategyId" from signal
      where status in ('A', '0', '1', 'E') and strategy_id <> ${life.variantId}::bigint order by id`
    for (const { id: SignalId, strategyId: StrategyId } of live)
      await life.ask('owner', 'CancelStrategyOrder', { StrategyId, SignalId })
  }
  await minutes(life)
  for (const { name } of life.accounts) {
    const own = { Account: name, PersonId: life.personIds.holder }
    await life.ask('holder', 'SetAutotradeSettings', {
      ...own,
      IsAutotradeEnabled: true,
      IsAutoSyncEnabled: true,
    })
    await life.ask('holder', 'SyncPositionsToOpen', own)
  }
  await minutes(life)
}

/** Reasons that may keep an account apart from its strategy when nothing moves any more. */
const lasting =
  /^(Excluded|AssetClassDisabled|LongNotAllowed|ShortNotAllowed|ClosingOrdersOnly|SyncToOpenDisabled)$/

interface Choices {
  readonly type: 'CS' | 'OPT' | 'FUT'
  readonly quantity: number
  readonly px: number
  readonly held: number
  readonly percent: number
  readonly least: number
  readonly most: number | null
  readonly dollars: number | null
}

/** What a strategy's position means for a setup, by the rule as it is told to holders. */
function meant({ type, quantity, px, held, percent, least, most, dollars }: Choices): number {
  const direction = Math.sign(quantity)
  const scaled = Math.floor((Math.abs(quantity) * percent) / 100)
  const kept = Math.min(scaled, Math.max(0, held * direction))
  if (type !== 'CS') return direction * Math.min(Math.max(scaled, least), most ?? Number.POSITIVE_INFINITY)
  return direction * (dollars === null ? scaled : Math.min(scaled, Math.max(Math.floor(dollars / px), kept)))
}

/** By setup and symbol. */
async function meantNow({ db }: Crossed): Promise<Map<string, number>> {
  const rows = await db.read.rows<Choices & { name: string }>`
    select concat(t.id, ' ', i.symbol) as name, i.security_type as type, p.quantity::float8 as quantity,
      p.avg_px::float8 as px, coalesce(h.quantity, 0)::float8 as held, t.scaling_percentage as percent,
      case i.security_type when 'FUT' then t.min_futures else t.min_options end as least,
      case i.security_type when 'FUT' then t.max_futures else t.max_options end as most,
      t.max_stocks_dollars as dollars
    from setup t join position p on p.strategy_id = t.strategy_id and p.quantity <> 0
      join instrument i on i.id = p.instrument_id
      left join account_position h on h.setup_id = t.id and h.instrument_id = i.id
    where t.stopped_at is null`
  // No negative zero.
  return new Map(rows.map((row) => [row.name, meant(row) + 0]))
}

async function expectInStep(life: Crossed, count: Count): Promise<void> {
  const setups = await life.db.read.rows<{
    id: number
  }>`select id from setup where stopped_at is null order by id`
  const facts = await loadSyncFacts(
    life.db.read,
    setups.map(({ id }) => id),
  )
  const sizes = await meantNow(life)
  for (const { setup, input, obstacles } of syncCases(facts, life.clock.time)) {
    const { report, actions } = planSync(input, obstacles)
    for (const row of report) {
      count(row.inSync ? 'in step' : `apart: ${row.text === null ? row.reason : 'refused by the broker'}`)
      const told = `setup ${setup.id} ${row.symbol} holds ${row.accountQuantity} of ${row.scaledQuantity}: ${row.reason} ${row.text}`
      expect(Number(row.scaledQuantity) + 0, told).toBe(sizes.get(`${setup.id} ${row.symbol}`) ?? 0)
      if (!row.inSync && row.text === null) expect(`${row.reason}`, told).toMatch(lasting)
    }
    const { place, close, open, cancel, replace } = actions
    expect([...place, ...close, ...open, ...cancel, ...replace], `setup ${setup.id}`).toEqual([])
  }
}

async function expectTheBrokersBook(life: Crossed): Promise<void> {
  for (const { id, name } of life.accounts) {
    const rows = await life.db.read.rows<{ symbol: string; ours: number }>`
      select i.symbol, sum(p.quantity)::float8 as ours from account_position p join instrument i on i.id = p.instrument_id
      where p.account_id = ${id}::bigint group by 1 having sum(p.quantity) <> 0 order by 1`
    const [theirs] = await life.paper.snapshot(life.work.ctx, [id])
    const book = [...(theirs?.positions ?? [])]
      .map(([symbol, quantity]) => ({ symbol, ours: Number(quantity) }))
      .filter(({ ours }) => ours !== 0)
      .sort((one, other) => (one.symbol < other.symbol ? -1 : 1))
    rows.sort((one, other) => (one.symbol < other.symbol ? -1 : 1))
    expect(rows, `account ${name}`).toEqual(book)
  }
}

interface Entry {
  readonly ledger: string
  readonly type: string
  readonly side: string
  readonly quantity: string
  readonly px: string
  readonly pv: string
  readonly cash: string
}

/** Of what was traded: a stock and an option cost what was paid, a future its losses, and what it stands at. */
async function expectCash(life: Crossed): Promise<void> {
  const held = await life.db.read.rows<{ ledger: string; quantity: string; px: string }>`
    select concat('account ', account_id, ' setup ', setup_id, ' instrument ', instrument_id) as ledger, quantity,
      coalesce(avg_px, 0) as px from account_position
    union all
    select concat('strategy ', strategy_id, ' instrument ', instrument_id), quantity, coalesce(avg_px, 0) from position`
  const books = new Map(held.map((row) => [row.ledger, dec(row.quantity).times(row.px)]))
  const entries = await life.db.read.rows<Entry>`
    select concat('account ', e.account_id, ' setup ', e.setup_id, ' instrument ', e.instrument_id) as ledger,
      i.security_type as type, e.side, e.quantity, e.px, i.point_value as pv, e.cash_change as cash
    from execution e join instrument i on i.id = e.instrument_id where i.security_type <> 'OPT'
    union all
    select concat('strategy ', f.strategy_id, ' instrument ', f.instrument_id), i.security_type, f.side, f.quantity, f.px,
      i.point_value, f.cash_change
    from fill f join instrument i on i.id = f.instrument_id where i.security_type <> 'OPT'`
  const paid = new Map<string, Decimal>()
  for (const { ledger, type, side, quantity, px, pv, cash } of entries) {
    const value = dec(quantity)
      .times(px)
      .times(pv)
      .times(side === '1' ? -1 : 1)
    const before =
      paid.get(ledger) ?? (type === 'FUT' ? (books.get(ledger) ?? zero).times(pv).negated() : zero)
    paid.set(ledger, before.plus(cash).minus(value))
  }
  const wrong = [...paid]
    .filter(([, rest]) => rest.abs().greaterThan('0.0001'))
    .map(([ledger, rest]) => `${ledger}: ${rest}`)
  expect(wrong).toEqual([])
}

async function expectNothingLeft(life: Crossed): Promise<void> {
  const { read } = life.db
  const half = await read.rows`
    select id, setup_id, source, source_id, revision, status, pending_action, info, reject_text from account_order
    where pending_action is not null or status in ('A', '6', 'E') or unknown_at is not null`
  expect(half, 'half done').toEqual([])
  const orphans = await read.rows`
    select o.id, o.setup_id, o.source, o.source_id, o.status, s.status as signal from account_order o
    join signal s on s.id = o.source_id
    where o.source = 'S' and o.status in ('0', '1') and s.status not in ('A', '0', '1', 'E')`
  expect(orphans, 'works for an order that has ended').toEqual([])
  const atBroker = await read.rows`
    select p.account_id, p.client_order_id, p.status from paper_order p where p.status in ('0', '1') and not exists (
      select from account_order o where o.account_id = p.account_id and o.status in ('0', '1')
        and o.instrument_id = p.instrument_id and o.side = p.side and o.order_qty = p.order_qty)`
  expect(atBroker, 'works at the broker alone').toEqual([])
  const unclosed = await read.rows`
    select t.id, p.quantity, p.instrument_id from setup t join account_position p on p.setup_id = t.id and p.quantity <> 0
    where t.stopped_at is not null and not t.positions_left_open and not exists (
      select from account_order o where o.setup_id = t.id and o.status = '8')`
  expect(unclosed, 'stopped and not closed').toEqual([])
  const due = await read.rows`
    select 'signal' as what, id from signal where mirror_due or needs_match and status in ('0', '1') and ord_type = '1'
    union all select 'report', id from broker_report where applied_at is null
    union all select 'action', id from corporate_action where booked_at is null and takes_effect_at <= ${new Date(life.clock.time).toISOString()}::timestamptz`
  expect(due, 'due').toEqual([])
}

export async function expectRest(life: Crossed, count: Count): Promise<void> {
  expect(life.errors.filter((line) => !line.includes('killed'))).toEqual([])
  expect((await auditViolations(life.db.read)).map(({ rule, detail }) => `${rule}: ${detail}`)).toEqual([])
  await expectTheBrokersBook(life)
  await expectInStep(life, count)
  await expectCash(life)
  await expectNothingLeft(life)
}
