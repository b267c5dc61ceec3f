/** One page of a listing: the request's page parameters in, rows and neighbours out. */
import type { CursorRefusal, Page, PageRequest } from '../storage/database/page.ts'
import { type Context, type Outcome, refuse } from './context.ts'

interface PageParams {
  readonly Cursor?: string | undefined
  readonly Limit: number | bigint
  readonly AscendingOrder: boolean
}

type Load<Row> = (request: PageRequest) => Promise<Page<Row> | CursorRefusal>

/** Runs a listing. The cursor is good for the same operation, filters, order and key only. */
export const paged = <Row, Shown>(
  ctx: Context,
  operation: string,
  params: PageParams,
  show: (row: Row) => Shown,
  load: Load<Row>,
): Promise<Outcome<Shown>> => pagedTogether(ctx, operation, params, async (rows) => rows.map(show), load)

/** The same where the rows of a page are shown together. */
export async function pagedTogether<Row, Shown>(
  ctx: Context,
  operation: string,
  { Cursor, Limit, AscendingOrder, ...filters }: PageParams,
  showAll: (rows: readonly Row[]) => Promise<readonly Shown[]>,
  load: Load<Row>,
): Promise<Outcome<Shown>> {
  const request: PageRequest = {
    cursor: Cursor === '' ? undefined : Cursor,
    limit: Number(Limit),
    now: ctx.now,
    secret: ctx.secrets.cursor,
    operation,
    filters: canonical(filters),
    order: AscendingOrder ? 'asc' : 'desc',
    keyId: ctx.caller.keyId,
  }
  const found = await load(request)
  if (typeof found === 'string') return refuse(found, 'Cursor')
  const links = { ...(found.next ? { next: found.next } : {}), ...(found.prev ? { prev: found.prev } : {}) }
  return { results: await showAll(found.rows), links }
}

/** The same text for the same filters, whatever their order. */
const canonical = (filters: object): string =>
  JSON.stringify(
    Object.entries(filters).sort(([a], [b]) => (a < b ? -1 : 1)),
    (_name, value) => (typeof value === 'bigint' ? value.toString() : value),
  )
