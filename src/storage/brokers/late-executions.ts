/** Dividends and splits that were booked before executions from before them were told, and what these make of them. */
import { type Decimal, dec, one } from '../../domain/decimal.ts'
import { midOf } from '../../domain/market/quote.ts'
import { beforeOpening, bookedDay } from '../../domain/market/trading-day.ts'
import type { Adjustment } from '../../domain/positions/late-execution.ts'
import { dayIn, type Instant, instantAt, newYork } from '../../domain/time.ts'
import { loadDailyMarks } from '../accounts/daily-marks.ts'
import { type Transaction, uncounted } from '../database/sql.ts'
import { instant } from '../database/wire.ts'
import { loadRateTable } from '../market/quotes.ts'
import { touchAccounts } from '../work/record-changes.ts'
import type { ReportRow } from './reports.ts'

/** An action that is booked. Numbers are those of its kind; `close` is the price of a unit before a split. */
export interface BookedAction {
  readonly id: number
  readonly instrumentId: number
  readonly currency: string
  readonly kind: 'dividend' | 'split'
  readonly amount: Decimal
  readonly newUnits: Decimal
  readonly oldUnits: Decimal
  readonly resizes: boolean
  readonly at: Instant
  /** Midnight in New York before it: what is executed on its day, before the opening too, is in new units already. */
  readonly dayFrom: Instant
  /** Null where nobody had quoted it. */
  readonly close: Decimal | null
}

type ActionRow = Pick<BookedAction, 'id' | 'instrumentId' | 'currency' | 'kind' | 'resizes' | 'at'> &
  Readonly<Record<'amount' | 'newUnits' | 'oldUnits', string | null>>

/** What was booked since the earliest of these reports of what they are about, in its order; usually nothing. */
export async function loadPassedActions(
  tx: Transaction,
  reports: readonly Pick<ReportRow, 'instrumentId' | 'occurredAt'>[],
): Promise<BookedAction[]> {
  const ids = [...new Set(reports.flatMap(({ instrumentId }) => instrumentId ?? []))]
  if (ids.length === 0) return []
  const since = reports.reduce(
    (first, { occurredAt }) => Math.min(first, occurredAt),
    Number.POSITIVE_INFINITY,
  )
  const rows = await tx.rows<ActionRow>`
    select a.id, instrument_id as "instrumentId", i.currency, kind, amount, new_units as "newUnits",
      old_units as "oldUnits", resizes, takes_effect_at as at
    from corporate_action a join instrument i on i.id = a.instrument_id
    where instrument_id = any(${uncounted(ids, 'bigint')}::bigint[]) and kind in ('dividend', 'split')
      and booked_at is not null and takes_effect_at > ${instant(since)}::timestamptz
    order by takes_effect_at, kind, a.id`
  const actions: BookedAction[] = []
  for (const { amount, newUnits, oldUnits, ...row } of rows) {
    const numbers = { amount: dec(amount ?? 0), newUnits: dec(newUnits ?? 1), oldUnits: dec(oldUnits ?? 1) }
    const dayFrom = instantAt(dayIn(row.at, newYork), 0, newYork)
    const close = row.kind === 'split' ? await closeBefore(tx, row) : null
    actions.push({ ...row, ...numbers, dayFrom, close })
  }
  return actions
}

async function closeBefore(
  tx: Transaction,
  { instrumentId, at }: Pick<ActionRow, 'instrumentId' | 'at'>,
): Promise<Decimal | null> {
  const day = bookedDay(at)
  const marks = await loadDailyMarks(tx, [instrumentId], day, day)
  const last = marks.filter((mark) => mark.day < day).at(-1)
  return last ? midOf(last) : null
}

/** What the currencies of actions were worth in these at the openings; by action and currency. */
export async function loadActionRates(
  tx: Transaction,
  actions: readonly BookedAction[],
  currencies: readonly string[],
): Promise<Map<string, Decimal>> {
  const rates = new Map<string, Decimal>()
  for (const { id, currency, at } of actions) {
    const table = await loadRateTable(tx, currencies, [currency], beforeOpening(at))
    for (const [into, worth] of table) rates.set(`${id} ${into}`, worth.get(currency) ?? one)
  }
  return rates
}

/** What an action did to a ledger. */
export interface LedgerAdjustment extends Adjustment {
  readonly actionId: number
  /** Null for what is the owner's own. */
  readonly setupId: number | null
  readonly accountId: number
  /** When the action took effect. */
  readonly at: Instant
}

/** What these actions did in these accounts, as far as they did anything. The accounts are locked. */
export async function loadAdjustments(
  tx: Transaction,
  actionIds: readonly number[],
  accountIds: readonly number[],
): Promise<LedgerAdjustment[]> {
  const rows = await tx.rows<
    Pick<LedgerAdjustment, 'actionId' | 'setupId' | 'accountId' | 'at'> & Record<keyof Adjustment, string>
  >`
    select j.action_id as "actionId", j.setup_id as "setupId", j.account_id as "accountId",
      j.quantity_before as before, j.quantity_change as change, j.cash_change as cash, a.takes_effect_at as at
    from account_adjustment j join corporate_action a on a.id = j.action_id
    where action_id = any(${actionIds}::bigint[]) and account_id = any(${accountIds}::bigint[])`
  return rows.map(({ before, change, cash, ...row }) => ({
    ...row,
    before: dec(before),
    change: dec(change),
    cash: dec(cash),
  }))
}

/** Writes what actions have done to ledgers after all, and pays the accounts what that adds. */
export async function saveAdjustments(tx: Transaction, rows: readonly LedgerAdjustment[]): Promise<void> {
  if (rows.length === 0) return
  const column = <K extends keyof LedgerAdjustment>(name: K): LedgerAdjustment[K][] =>
    rows.map((row) => row[name])
  await tx.run`
    with told as (
      select * from unnest(${column('actionId')}::bigint[], ${column('setupId')}::bigint[],
        ${column('accountId')}::bigint[], ${column('before')}::numeric[], ${column('change')}::numeric[],
        ${column('cash')}::numeric[]) t (action_id, setup_id, account_id, before, change, cash)
    ), paid as (
      select told.account_id, sum(told.cash - coalesce(j.cash_change, 0)) as total
      from told left join account_adjustment j on j.action_id = told.action_id and j.account_id = told.account_id
        and j.setup_id is not distinct from told.setup_id
      group by told.account_id
    ), noted as (
      insert into account_adjustment (action_id, setup_id, account_id, quantity_before, quantity_change, cash_change)
      select action_id, setup_id, account_id, before, change, cash from told order by 1, 2
      on conflict (action_id, setup_id, account_id) do update set quantity_before = excluded.quantity_before,
        quantity_change = excluded.quantity_change, cash_change = excluded.cash_change
    )
    update account set cash = cash + paid.total from paid where account.id = paid.account_id`
  await touchAccounts(
    tx,
    rows.map(({ accountId, at }) => ({ id: accountId, at })),
  )
}
