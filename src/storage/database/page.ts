/**
 * Pages over rows in the order of an immutable unique key. A scan delivers every row that was there when it
 * began exactly once, and so every row committed before its last page, also one with a key already passed:
 * sequences hand out keys before their transactions commit. A scan that goes down leaves out what is above its
 * first row: it came later, and a scan that met it would start again with every new row and come to no end.
 *
 * How: the cursor remembers with which snapshot each stretch of keys was read (`segments`). A row counts as
 * seen when its key lies in a stretch and its inserting transaction (`xid`) is visible in the stretch's
 * snapshot. The next page is the first unseen rows, the previous page the last seen ones. After a page up to
 * key k everything up to k is seen as of that page; stretches beyond k stay as they were.
 */
import { type CursorBinding, type CursorRefusal, readCursor, type Segment, writeCursor } from './cursor.ts'
import { type Fragment, fragment, identifier, join, type Sql } from './sql.ts'
import { readTexts } from './wire.ts'

export type { CursorRefusal } from './cursor.ts'

/** What is asked for, and by whom. */
export interface PageRequest extends CursorBinding {
  /** As the client sent it; nothing for the first page. */
  readonly cursor?: string | undefined
  /** Rows of a page, at least 1. */
  readonly limit: number
  /** The business clock, epoch milliseconds. */
  readonly now: number
}

/** The rows of a listing. */
export interface Listing {
  /** Columns as in a select list. */
  readonly select: Fragment
  /** Tables and joins. */
  readonly from: Fragment
  /** Condition; must not change its answer for a row during a scan. */
  readonly where: Fragment
  /** Columns of the key, most significant first; immutable, not null and together unique. */
  readonly key: readonly KeyColumn[]
  /** The xid8 column that holds the row's inserting transaction. */
  readonly xid: Fragment
  /** The table of both by itself, named as in `from`. It has an index on `xid`. */
  readonly table: Fragment
  /** Of the rows of that index, where it does not hold all. */
  readonly indexed?: Fragment
}

/** In the order in which it is read; `top` is where a scan that goes down began. */
interface PageQuery extends Listing, Pick<PageRequest, 'order'> {
  readonly top: readonly string[] | undefined
}

interface KeyColumn {
  readonly column: Fragment
  readonly type: 'bigint' | 'timestamptz' | 'date' | 'text' | 'numeric'
}

/** Key and `xid` of a table whose rows are listed by their ids; `name` is what the query calls it. */
export const keyedById = (table: Fragment, name = table): Pick<Listing, 'key' | 'xid' | 'table'> => ({
  key: [{ column: fragment`${name}.id`, type: 'bigint' }],
  xid: fragment`${name}.xid`,
  table: fragment`${table} ${name}`,
})

export interface Page<Row> {
  /** As selected; each row also carries the page's own columns, whose names begin with `page`. */
  readonly rows: Row[]
  readonly next: string | null
  readonly prev: string | null
}

/** Where a row stands, as the text of an array: of a thousand rows one mark is read. */
interface Marked {
  pageMark: string
}

interface Mark {
  readonly key: string[]
  /** Index of the stretch that holds the row; their number for a row beyond all of them. */
  readonly stretch: number
  /** Of the statement that read the row. */
  readonly snapshot: string
}

function markOf({ pageMark }: Marked): Mark {
  const [snapshot = '', stretch, ...key] = readTexts(pageMark)
  return { key, stretch: Number(stretch), snapshot }
}

/**
 * One page. Refuses a cursor that is not ours for this use or older than an hour. Must not run in a
 * transaction that wrote rows of the listing itself: these would come twice.
 */
export async function page<Row>(
  sql: Sql,
  request: PageRequest,
  listing: Listing,
): Promise<Page<Row> | CursorRefusal> {
  const { cursor, limit, now, order } = request
  const position = cursor === undefined ? undefined : readCursor(cursor, request, now)
  if (typeof position === 'string') return position
  const { segments, top } = position ?? { segments: [] }
  const issue: Issue = (direction, upTo, from = top) =>
    upTo.length === 0
      ? null
      : writeCursor({ direction, segments: upTo, ...(from && { top: from }) }, request, now)
  const scan: Scan = { query: { ...listing, order, top }, segments, limit, issue }
  return position?.direction === 'prev' ? pageBefore(sql, scan) : pageAfter(sql, scan)
}

/** Writes the cursor of a neighbour; none where nothing was delivered. */
type Issue = (
  direction: 'next' | 'prev',
  segments: readonly Segment[],
  top?: readonly string[],
) => string | null

/** A scan at the place where a page is asked for. */
interface Scan {
  readonly query: PageQuery
  readonly segments: readonly Segment[]
  readonly limit: number
  readonly issue: Issue
}

async function pageBefore<Row>(sql: Sql, { query, segments, limit, issue }: Scan): Promise<Page<Row>> {
  const found = await sql.rows<Row & Marked>`${seenRows(query, segments, limit + 1)}`
  const rows = found.slice(0, limit).reverse()
  const before = found[limit]
  const prev = before ? issue('prev', cutAt(segments, markOf(before))) : null
  return { rows, next: issue('next', segments), prev }
}

async function pageAfter<Row>(sql: Sql, { query, segments, limit, issue }: Scan): Promise<Page<Row>> {
  const found = await sql.rows<Row & Marked>`${unseenRows(query, segments, limit + 1)}`
  const rows = found.slice(0, limit)
  const [first] = rows
  const last = found.length > limit ? rows.at(-1) : undefined
  const begins = segments.length === 0 && query.order === 'desc' && first !== undefined
  const top = begins ? markOf(first).key : undefined
  const next = last ? issue('next', extend(segments, markOf(last)), top) : null
  return { rows, next, prev: issue('prev', segments) }
}

/** Everything up to the page's last row is now seen as of this page. */
function extend(segments: readonly Segment[], { key, stretch, snapshot }: Mark): Segment[] {
  return [[key, snapshot], ...segments.slice(stretch)]
}

/** What was seen up to this row and no further. */
function cutAt(segments: readonly Segment[], { key, stretch }: Mark): Segment[] {
  return [...segments.slice(0, stretch), [key, segments[stretch]?.[1] ?? '']]
}

/** The first `count` rows not delivered yet: beyond the last stretch, and late ones inside. */
function unseenRows(query: PageQuery, segments: readonly Segment[], count: number): Fragment {
  const { order } = query
  const end = segments.at(-1)?.[0]
  if (!end) {
    const columns = marked(query, fragment`'0'`)
    return fragment`select ${columns} from ${query.from} where ${query.where} ${ordered(query, order)} limit ${count}`
  }
  const sortKeys = query.key.map((_, index) => identifier(`pageSort${index}`))
  const sorts = query.key.map(({ column }, index) => fragment`${column} as ${identifier(`pageSort${index}`)}`)
  const columns = (place: Fragment) => fragment`${marked(query, place)}, ${join(sorts, ', ')}`
  return fragment`
    select * from (
      (select ${columns(fragment`${segments.length}::text`)} from ${query.from}
       where (${query.where}) and ${keyOf(query)} ${beyond(order)} ${keyValue(query, end)}
       ${ordered(query, order)} limit ${count})
      union all
      (select found.* from (${lateKeys(query, segments, end)}) late cross join lateral (
        select ${columns(fragment`late.index::text`)} from ${query.from}
        where (${query.where}) and ${keyOf(query)} = (${lateNames(query)}) offset 0) found)
    ) found
    order by ${join(
      sortKeys.map((name) => fragment`${name} ${direction(order)}`),
      ', ',
    )} limit ${count}`
}

/**
 * Keys and stretches of what came late, of the table alone: what a page lists of it may be few rows or nearly all, which
 * no plan knows, and each that came late is then looked up by its key.
 */
function lateKeys(query: PageQuery, segments: readonly Segment[], end: readonly string[]): Fragment {
  const oldest = Math.min(...segments.map(([, snapshot]) => Number(snapshot.split(':')[0])))
  const keys = query.key.map(({ column }, index) => fragment`${column} as ${identifier(`key${index}`)}`)
  return fragment`
    select ${join(keys, ', ')}, page_stretch.index from ${query.table} ${stretch(query, segments)}
    where ${query.indexed ?? fragment`true`} and ${since(query, oldest)} and ${isBelowTop(query)}
      and ${keyOf(query)} ${within(query.order)} ${keyValue(query, end)} and not ${seen(query, segments)}
    offset 0`
}

const lateNames = ({ key }: Listing): Fragment =>
  join(
    key.map((_, index) => fragment`late.${identifier(`key${index}`)}`),
    ', ',
  )

/**
 * Inserted by a transaction that the oldest snapshot could not see all of. The upper bound says nothing new: with
 * both ends the planner knows without the value that these are few, and takes the index on the column. In the order
 * of the key and with a limit it would rather walk through everything before the page: hence neither, and a fence.
 */
const since = ({ xid }: Listing, oldest: number): Fragment =>
  fragment`${xid} >= ${oldest}::xid8 and ${xid} < pg_snapshot_xmax(pg_current_snapshot())`

/**
 * The last `count` rows delivered so far, the last one first. Between two ends that it does not know the planner expects
 * few rows, and would read and sort them all: `is true` keeps the second end from it.
 */
function seenRows(query: PageQuery, segments: readonly Segment[], count: number): Fragment {
  const { order } = query
  return fragment`
    select ${marked(query, stretchIndex)} from ${query.from} ${stretch(query, segments)}
    where (${query.where}) and ${keyOf(query)} ${within(order)} ${keyValue(query, segments.at(-1)?.[0] ?? [])}
      and (${isBelowTop(query)}) is true and ${seen(query, segments)}
    ${ordered(query, order === 'asc' ? 'desc' : 'asc')} limit ${count}`
}

const direction = (order: PageQuery['order']): Fragment => (order === 'asc' ? fragment`asc` : fragment`desc`)
const beyond = (order: PageQuery['order']): Fragment => (order === 'asc' ? fragment`>` : fragment`<`)
const within = (order: PageQuery['order']): Fragment => (order === 'asc' ? fragment`<=` : fragment`>=`)

const columnsOf = ({ key }: Listing): Fragment =>
  join(
    key.map(({ column }) => column),
    ', ',
  )
const keyOf = (listing: Listing): Fragment => fragment`(${columnsOf(listing)})`

/** The columns of a row and its mark; `place` is the text of its stretch. */
const marked = ({ select, key }: Listing, place: Fragment): Fragment =>
  fragment`${select}, array[(select pg_current_snapshot()::text), ${place}, ${join(
    key.map(({ column }) => fragment`${column}::text`),
    ', ',
  )}]::text as "pageMark"`

const stretchIndex = fragment`page_stretch.index::text`

const ordered = ({ key }: Listing, order: PageQuery['order']): Fragment =>
  fragment`order by ${join(
    key.map(({ column }) => fragment`${column} ${direction(order)}`),
    ', ',
  )}`

const typeName = (type: KeyColumn['type']): Fragment => ({ strings: [type], values: [] })

const keyValue = ({ key }: Listing, value: readonly string[]): Fragment =>
  fragment`(${join(
    key.map(({ type }, index) => fragment`${value[index]}::${typeName(type)}`),
    ', ',
  )})`

/** Joins the index of the stretch that holds the row: how many stretches end before it. */
function stretch(query: PageQuery, segments: readonly Segment[]): Fragment {
  const bounds = query.key.map(
    ({ type }, index) => fragment`${segments.map(([key]) => key[index])}::${typeName(type)}[]`,
  )
  const names = join(
    query.key.map((_, index) => identifier(`bound${index}`)),
    ', ',
  )
  return fragment`cross join lateral (
    select count(*)::int as index from unnest(${join(bounds, ', ')}) as stretch_end (${names})
    where ${keyOf(query)} ${beyond(query.order)} (${names})
  ) page_stretch`
}

/** What is beyond an end that was reached is below the top by itself. */
const isBelowTop = ({ top, ...listing }: PageQuery): Fragment =>
  top ? fragment`${keyOf(listing)} <= ${keyValue(listing, top)}` : fragment`true`

/** Whether the row's inserting transaction is visible in the snapshot of its stretch. */
function seen({ xid }: Listing, segments: readonly Segment[]): Fragment {
  const snapshots = segments.map(([, snapshot]) => snapshot)
  return fragment`pg_visible_in_snapshot(${xid}, (${snapshots}::pg_snapshot[])[page_stretch.index + 1])`
}
