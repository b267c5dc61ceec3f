/** One page of a listing: the request's page parameters in, rows and neighbours out. */
import type { CursorRefusal, Page, PageRequest } from '../storage/page.ts'
import { type Context, type Outcome, refuse } from './context.ts'

interface PageParams {
  readonly Cursor?: string | undefined
  readonly Limit: number | bigint
  readonly AscendingOrder: boolean
}

/** What a storage function needs to know of a page. */
export interface PageAsked {
  request: PageRequest
  order: 'asc' | 'desc'
}

/** Runs a listing. The cursor is good for the same operation, filters, order and key only. */
export async function paged<Row, Shown>(
  ctx: Context,
  operation: string,
  { Cursor, Limit, AscendingOrder, ...filters }: PageParams,
  show: (row: Row) => Shown,
  load: (asked: PageAsked) => Promise<Page<Row> | CursorRefusal>,
): Promise<Outcome<Shown>> {
  const request: PageRequest = {
    cursor: Cursor === '' ? undefined : Cursor,
    limit: Number(Limit),
    now: ctx.now,
    secret: ctx.secrets.cursor,
    operation,
    filters: canonical(filters),
    keyId: ctx.caller.keyId,
  }
  const found = await load({ request, order: AscendingOrder ? 'asc' : 'desc' })
  if (typeof found === 'string') return refuse(found, 'Cursor')
  const links = { ...(found.next ? { next: found.next } : {}), ...(found.prev ? { prev: found.prev } : {}) }
  return { results: found.rows.map(show), links }
}

/** The same text for the same filters, whatever their order. */
const canonical = (filters: object): string =>
  JSON.stringify(
    Object.entries(filters).sort(([a], [b]) => (a < b ? -1 : 1)),
    (_name, value) => (typeof value === 'bigint' ? value.toString() : value),
  )
