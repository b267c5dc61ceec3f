/**
 * The daily close: what strategies and accounts were worth when a trading day ended. A record knows by itself which
 * day comes next, so a worker that was away closes all days it missed, and a correction of the past closes the days
 * from its own on once more. Books that have not moved since a day are taken as they are now; those that have are
 * made up again from their fills, dividends and splits.
 */

import { chunked, groupBy } from '../../domain/group.ts'
import { accountOn, type CloseFacts, closeDay } from '../../domain/margin/daily-close.ts'
import { accountValue } from '../../domain/margin/model-account.ts'
import { endedDays, endOfDay, firstDayOf, nextCloseAt } from '../../domain/market/trading-day.ts'
import { bookStates, type LedgerState } from '../../domain/positions/ledger-state.ts'
import type { Day, Instant } from '../../domain/time.ts'
import { loadBookAdjustments, readBookFills } from '../../storage/accounts/book-history.ts'
import {
  type BookKind,
  type CloseLimits,
  claimDueRecords,
  type DueRecord,
  type HeldRow,
  isCloseDue,
  listDueRecords,
  loadHeld,
  type NewDay,
  type RecordChange,
  saveDays,
  saveRecords,
} from '../../storage/accounts/daily-close.ts'
import { loadCloseFacts } from '../../storage/accounts/daily-marks.ts'
import type { Transaction } from '../../storage/database/sql.ts'
import { bookCurrency } from '../../storage/orders/order-books.ts'
import type { Among } from '../../storage/work/among.ts'
import type { Step, WorkContext } from '../context.ts'
import { isolated } from '../isolation.ts'

/** Of one transaction: whoever books on one of its records waits for its end. */
interface Limits extends CloseLimits {
  /** Books that are made up at once: the transaction stands still meanwhile. */
  readonly madeUp: number
}

const usualLimits: Limits = { records: 20_000, days: 200_000, madeUp: 500 }
const patience = { statementTimeoutMs: 120_000 }

/** Closes days of the kind that have ended; answers how many records it looked at. */
export const closeDays = (ctx: WorkContext, kind: BookKind, atOnce = usualLimits): Promise<number> =>
  isolated(ctx, {
    name: kind === 'strategy' ? 'days of a strategy' : 'days of an account',
    work: (books) => closeNext(ctx, kind, books, atOnce),
    list: (books, limit) => listDueRecords(ctx.db.read, kind, ctx.clock.now(), books, limit),
  })

function closeNext(ctx: WorkContext, kind: BookKind, among: Among, atOnce: Limits): Promise<number> {
  const now = ctx.clock.now()
  return ctx.db.transaction(async (tx) => {
    const wanted = { books: among, atOnce, currency: bookCurrency }
    const records = await claimDueRecords(tx, kind, now, wanted)
    if (records.length === 0) return 0
    const books = await loadBooks(tx, kind, records, { now, madeUp: atOnce.madeUp })
    const facts = await loadFacts(tx, books)
    await saveDays(tx, kind, closedDays(kind, books, facts))
    await saveRecords(
      tx,
      kind,
      books.map((book) => changeOf(book, now)),
    )
    return records.length
  }, patience)
}

const bookOf = ({ bookId }: { readonly bookId: number }): number => bookId

/** A record with the days to close and the state at the end of each. */
interface Book {
  readonly record: DueRecord
  readonly days: readonly Day[]
  readonly states: readonly LedgerState[]
}

async function loadBooks(
  tx: Transaction,
  kind: BookKind,
  records: readonly DueRecord[],
  { now, madeUp }: { readonly now: Instant; readonly madeUp: number },
): Promise<Book[]> {
  const ids = records.map(({ id }) => id)
  const held = groupBy(await loadHeld(tx, kind, ids), bookOf)
  const dated = records.map((record) => ({ record, days: daysOf(record, held.get(record.id) ?? [], now) }))
  const moved = dated.filter(({ record, days }) => isMoved(record, days))
  const made = new Map<number, readonly LedgerState[]>()
  for (const part of chunked(moved, madeUp)) await makeUp(tx, kind, part, made)
  return dated.map(({ record, days }): Book => {
    const state = { cash: record.cash, positions: held.get(record.id) ?? [] }
    return { record, days, states: made.get(record.id) ?? days.map(() => state) }
  })
}

/** Adds the states at the ends of the days, from all that ever moved the books. */
async function makeUp(
  tx: Transaction,
  kind: BookKind,
  moved: readonly Omit<Book, 'states'>[],
  made: Map<number, readonly LedgerState[]>,
): Promise<void> {
  const ids = moved.map(({ record }) => record.id)
  const adjustments = groupBy(await loadBookAdjustments(tx, kind, ids), bookOf)
  const states = new Map(
    moved.map(({ record: { id, startingCash }, days }) => [
      id,
      bookStates(startingCash, adjustments.get(id) ?? [], days.map(endOfDay)),
    ]),
  )
  for await (const fills of readBookFills(tx, kind, ids))
    for (const fill of fills) states.get(fill.bookId)?.add(fill)
  for (const [id, book] of states) made.set(id, book.end())
}

function daysOf(record: DueRecord, held: readonly HeldRow[], now: Instant): Day[] {
  // What is in another currency is worth more or less until its pairs have ended their day.
  const closesEarly = held.every(
    ({ calendar, currency }) => calendar === 'US_EQUITY' && currency === record.currency,
  )
  return endedDays(fromOf(record), now, closesEarly)
}

/** The first day that is not closed, or not any more. */
const fromOf = ({ closedDay, staleFrom, startedAt }: DueRecord): Day => {
  const first = firstDayOf(startedAt)
  const next = closedDay === null ? first : closedDay + 1
  return Math.max(first, staleFrom === null ? next : Math.min(staleFrom, next))
}

/** Whether the present books are not those of all these days. */
function isMoved({ movedAt }: DueRecord, days: readonly Day[]): boolean {
  const [first] = days
  return first !== undefined && (movedAt ?? 0) > endOfDay(first)
}

/** Instruments and marks of everything held, by the currency of the accounts. */
function loadFacts(tx: Transaction, books: readonly Book[]): Promise<Map<string, CloseFacts>> {
  const held = new Set(
    books.flatMap(({ states }) =>
      [...new Set(states)].flatMap(({ positions }) => positions.map((one) => one.instrumentId)),
    ),
  )
  const days = books.flatMap((book) => [book.days[0] ?? [], book.days.at(-1) ?? []].flat())
  const currencies = books.map(({ record }) => record.currency)
  return loadCloseFacts(tx, currencies, [...held], days)
}

/** Works the days out as they are asked for: while the database takes some in, the next ones are made. */
function* closedDays(
  kind: BookKind,
  books: readonly Book[],
  facts: ReadonlyMap<string, CloseFacts>,
): Generator<NewDay> {
  for (const { record, days, states } of books) {
    const own = facts.get(record.currency) as CloseFacts
    const { lastChange } = own.marks
    let before: { state: LedgerState; closed: NewDay } | undefined
    for (const [place, day] of days.entries()) {
      const state = states[place] as LedgerState
      const isAsBefore = before?.state === state && before.closed.day >= lastChange
      const closed = before && isAsBefore ? { ...before.closed, day } : newDay(kind, record, day, state, own)
      before = { state, closed }
      yield closed
    }
  }
}

function newDay(kind: BookKind, record: DueRecord, day: Day, state: LedgerState, facts: CloseFacts): NewDay {
  const { cash, value, leverage } =
    kind === 'strategy'
      ? closeDay(state, day, facts)
      : { cash: state.cash, value: accountValue(accountOn(state, day, facts)), leverage: null }
  return { bookId: record.id, day, cash, value, leverage }
}

function changeOf({ record, days }: Book, now: Instant): RecordChange {
  const last = days.at(-1)
  const closedDay = last === undefined ? record.closedDay : Math.max(last, record.closedDay ?? last)
  const isOpen = record.staleFrom !== null && last === undefined
  const staleFrom = isOpen ? record.staleFrom : null
  const from = fromOf({ ...record, closedDay, staleFrom })
  return {
    id: record.id,
    closedDay,
    staleFrom,
    nextCloseAt: nextCloseAt(from, now),
    isChanged: last !== undefined,
  }
}

const closeStep = (kind: BookKind): Step => ({
  name: kind === 'strategy' ? 'closeStrategies' : 'closeAccounts',
  due: (now) => isCloseDue(kind, now),
  run: (ctx) => closeDays(ctx, kind),
})

/** Days that have ended wait to be closed; whatever else is due at their end comes first. */
export const closeSteps: readonly Step[] = [closeStep('strategy'), closeStep('account')]
