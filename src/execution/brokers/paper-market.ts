/**
 * The paper broker meets the market: the same quotes and bars and the same fill rules as the strategies, after
 * its own latency and slippage. Every fill is written with the report that tells of it.
 */

import { type Decimal, zero } from '../../domain/decimal.ts'
import { groupBy } from '../../domain/group.ts'
import { isTrading } from '../../domain/market/expiration.ts'
import { isFresh, isValidQuote, type LastQuote } from '../../domain/market/quote.ts'
import { parseClientOrderId } from '../../domain/orders/client-order-id.ts'
import { defaultFillConfig, type FillConfig } from '../../domain/orders/fill.ts'
import { fillAgainstBar } from '../../domain/orders/fill-bars.ts'
import { fillAgainstQuote } from '../../domain/orders/fill-quotes.ts'
import type { Instant } from '../../domain/time.ts'
import {
  listPaperArrivals,
  listReachedPaper,
  listWorkedInstruments,
  loadExitGroups,
  lockPaperArrivals,
  lockReachedPaper,
  type PaperOrderRow,
  savePaperOrders,
} from '../../storage/brokers/paper-market.ts'
import { insertPaperExecutions } from '../../storage/brokers/paper-reports.ts'
import type { Transaction } from '../../storage/database/sql.ts'
import { lockLastQuotes, type QuotedInstrument, quotedInstruments } from '../../storage/market/quotes.ts'
import type { Among } from '../../storage/work/among.ts'
import { guardLease, type Lease } from '../../storage/work/leases.ts'
import type { WorkContext } from '../context.ts'
import { despiteSome, isolated } from '../isolation.ts'
import type { MarketBar, MarketQuote, TimedItem } from '../market/feed.ts'
import {
  barOf,
  barRange,
  endOf,
  itemsOf,
  type Known,
  knownIn,
  lastQuote,
  namesIn,
  quoteOf,
  quoteRange,
  touchesSession,
} from '../orders/moments.ts'
import { type PaperBook, type PaperOrder, paperBook, paperPort, worksAt } from './paper-book.ts'

/** What a fill at this broker costs beyond the price seen. */
export interface PaperSlippage {
  readonly slippageTicks: Decimal
  readonly slippageBps: Decimal
}

const arrivalsAtOnce = 5_000

type Serve = (book: PaperBook, instrument: QuotedInstrument) => PaperBook

const configOf = ({ securityType, tick }: QuotedInstrument, slippage: PaperSlippage): FillConfig => ({
  ...defaultFillConfig(securityType, tick),
  ...slippage,
})

/** Serves the working orders that a batch of quotes reaches, in the order of the quotes. */
export async function takeQuotes(
  ctx: WorkContext,
  slippage: PaperSlippage,
  quotes: readonly MarketQuote[],
  lease?: Lease,
): Promise<number> {
  const batch = (await workedItems(ctx, quotes)).filter(
    ({ item, instrument }) => isTrading(instrument, item.at) && isValidQuote(quoteOf(item), true),
  )
  return takeBatch(ctx, batch, quoteRange, lease, (item) => (book, instrument) => {
    const { at } = item
    const port = paperPort({
      takesPart: (row) => row.acceptedAt <= at && worksAt(row, at),
      timeOf: () => at,
    })
    return fillAgainstQuote(book, port, lastQuote(quoteOf(item), at), configOf(instrument, slippage)).book
  })
}

/** Serves the orders that worked when a bar began by the bar's worst case. */
export async function takeBars(
  ctx: WorkContext,
  slippage: PaperSlippage,
  bars: readonly MarketBar[],
  lease?: Lease,
): Promise<number> {
  const batch = (await workedItems(ctx, bars)).filter(({ item, instrument }) =>
    touchesSession(instrument, item),
  )
  return takeBatch(ctx, batch, barRange, lease, (item) => (book, instrument) => {
    const port = paperPort({
      takesPart: (row) => worksAt(row, item.at),
      timeOf: (phase) => (phase === 'open' ? item.at : endOf(item)),
    })
    return fillAgainstBar(book, port, barOf(item), configOf(instrument, slippage))
  })
}

/** Holds accepted orders against the last valid quotes, once each. Answers how many rows moved. */
export const takeArrivals = (ctx: WorkContext, slippage: PaperSlippage): Promise<number> =>
  isolated(ctx, {
    name: 'new orders of a paper account',
    work: (accounts) => takeThese(ctx, slippage, accounts),
    list: async (accounts, limit) => {
      const due = await listPaperArrivals(ctx.db.read, ctx.clock.now(), accounts, limit)
      return [...new Set(due.map(({ accountId }) => accountId))]
    },
  })

const takeThese = (ctx: WorkContext, slippage: PaperSlippage, accounts: Among): Promise<number> =>
  ctx.db.transaction(async (tx) => {
    const now = ctx.clock.now()
    const due = await listPaperArrivals(tx, now, accounts, arrivalsAtOnce)
    if (due.length === 0) return 0
    const ids = [...new Set(due.map(({ instrumentId }) => instrumentId))]
    // Quotes come before orders, as everywhere: a split has locked the quote when it restates what is at work.
    const [quotes, rows, instruments] = await Promise.all([
      lockLastQuotes(tx, ids),
      lockPaperArrivals(tx, now, { accounts, instrumentIds: ids }, arrivalsAtOnce),
      quotedInstruments(tx, ids),
    ])
    await serve(tx, { rows, groups: new Map() }, instruments, (instrumentId) => {
      const last = quotes.get(instrumentId)
      return last
        ? [(book, instrument) => onArrival(book, instrument, lastQuote(last, last.at), slippage)]
        : []
    })
    return rows.length
  })

/** An arriving order trades on a last quote that was fresh then, if the market was open. */
function onArrival(
  book: PaperBook,
  instrument: QuotedInstrument,
  last: LastQuote,
  slippage: PaperSlippage,
): PaperBook {
  const config = configOf(instrument, slippage)
  const timeOf = (row: PaperOrderRow): Instant => Math.max(row.acceptedAt, last.at)
  const port = paperPort({
    takesPart: (row) =>
      isFresh(last, row.acceptedAt, config.maxQuoteAgeSec) &&
      isTrading(instrument, timeOf(row)) &&
      worksAt(row, timeOf(row)),
    timeOf: (_, row) => timeOf(row),
  })
  return fillAgainstQuote(book, port, last, config).book
}

/** The batch's items in whose instrument the book has working orders. */
async function workedItems<Item extends TimedItem>(
  ctx: WorkContext,
  items: readonly Item[],
): Promise<Known<Item>[]> {
  const { symbols, ids } = namesIn(items)
  const worked = await listWorkedInstruments(ctx.db.read, symbols, ids)
  return worked.length === 0 ? [] : knownIn(items, (await quotedInstruments(ctx.db.read, worked)).values())
}

async function takeBatch<Item>(
  ctx: WorkContext,
  batch: readonly Known<Item>[],
  rangeOf: (id: number, items: readonly Item[]) => Parameters<typeof lockReachedPaper>[1][number],
  lease: Lease | undefined,
  serveItem: (item: Item) => Serve,
): Promise<number> {
  if (batch.length === 0) return 0
  const instruments = new Map(batch.map(({ instrument }) => [instrument.id, instrument]))
  const items = itemsOf(batch)
  const ranges = [...items].map(([id, list]) => rangeOf(id, list))
  const work = (accounts: Among): Promise<number> =>
    ctx.db.transaction(async (tx) => {
      if (lease) await guardLease(tx, lease)
      const rows = await lockReachedPaper(tx, ranges, accounts)
      const groups = await loadGroups(tx, rows)
      // One that has just come, or has yet to be accepted, may take no part in this: it still meets the last quote.
      const momentsOf = (id: number): Serve[] => (items.get(id) ?? []).map(serveItem)
      return serve(tx, { rows, groups }, instruments, momentsOf, isChanged)
    })
  const list = (accounts: Among, limit: number) => listReachedPaper(ctx.db.read, ranges, accounts, limit)
  return despiteSome(ctx, isolated(ctx, { name: 'prices for a paper account', work, list }))
}

const bookOf = ({ accountId, instrumentId }: PaperOrderRow): string => `${accountId} ${instrumentId}`

/** The groups of exits of which a batch reaches several, by their orders: a target and a stop in one bar. */
async function loadGroups(tx: Transaction, rows: readonly PaperOrderRow[]): Promise<Map<number, number>> {
  const closing = groupBy(
    rows.filter(({ positionEffect }) => positionEffect === 'C'),
    bookOf,
  )
  const several = [...closing.values()].filter(({ length }) => length > 1).flat()
  if (several.length === 0) return new Map()
  const copies = several.flatMap(({ id, clientOrderId }) => {
    const key = parseClientOrderId(clientOrderId)
    return key?.source === 'S' ? [{ id, signalId: key.sourceId }] : []
  })
  const groups = await loadExitGroups(
    tx,
    copies.map(({ signalId }) => signalId),
  )
  return new Map(
    copies.flatMap(({ id, signalId }) => {
      const group = groups.get(signalId)
      return group === undefined ? [] : [[id, group] as const]
    }),
  )
}

/** Orders that prices reach, and the groups of exits among them. */
interface Reached {
  readonly rows: readonly PaperOrderRow[]
  readonly groups: ReadonlyMap<number, number>
}

/** Runs each account's orders of an instrument through its moments and writes those that are to be; answers the fills. */
async function serve(
  tx: Transaction,
  { rows, groups }: Reached,
  instruments: ReadonlyMap<number, QuotedInstrument>,
  momentsOf: (instrumentId: number) => readonly Serve[],
  isWritten: (order: PaperOrder) => boolean = () => true,
): Promise<number> {
  const books = groupBy(rows, bookOf)
  const moments = new Map([...instruments.keys()].map((id) => [id, momentsOf(id)]))
  const served = [...books.values()].map((group) => {
    const instrument = instruments.get(group[0].instrumentId)
    if (!instrument) return paperBook(group, groups)
    return (moments.get(instrument.id) ?? []).reduce(
      (book, moment) => moment(book, instrument),
      paperBook(group, groups),
    )
  })
  const orders = served.flatMap((book) => [...book.orders.values()]).filter(isWritten)
  const fills = served.flatMap((book) => book.fills)
  const executions = fills.map(({ row, execId, quantity, price, cumQty, at }) => ({
    brokerId: row.brokerId,
    accountId: row.accountId,
    execId,
    clientOrderId: row.clientOrderId,
    symbol: instruments.get(row.instrumentId)?.symbol ?? '',
    side: row.side,
    quantity,
    // Slippage takes a cheap instrument to nothing or below, where nobody trades.
    px: price.greaterThan(0) ? price : (instruments.get(row.instrumentId)?.tick ?? price),
    cumQty,
    at,
  }))
  await Promise.all([savePaperOrders(tx, orders.map(changeOf)), insertPaperExecutions(tx, executions)])
  return fills.length
}

const isChanged = ({ row, fills, isTriggered }: PaperOrder): boolean =>
  fills !== row.fills || isTriggered !== row.isTriggered

const changeOf = ({ row, cumQty, fills, isTriggered }: PaperOrder) =>
  ({
    id: row.id,
    status: cumQty.greaterThanOrEqualTo(row.orderQty) ? '2' : cumQty.greaterThan(zero) ? '1' : '0',
    cumQty,
    fills,
    isTriggered,
  }) as const
