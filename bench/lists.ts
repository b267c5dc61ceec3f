/**
 * Pages of 1,000 orders out of a million, over HTTP at 16 connections: the product's first and last page against
 * each other, and against the usual way to serve a list. Generator, servers and database share the machine.
 */
import { startPlatform, symbol } from './support/platform.ts'
import { type Bench, interleaved, ratioOf } from './support/report.ts'
import { load, type Served, serve } from './support/served.ts'

const connections = 16
const roundSeconds = 3
const rounds = 5
const total = 1_000_000

const pageOf = (api: Served, cursor: string): string =>
  `${api.url}/gen/Strategies/GetStrategyHistoricalOrders?StrategyId=1&Limit=1000${cursor}`

async function run() {
  const platform = await startPlatform(1)
  await fill(platform.db)
  const api = await serve('api-server.ts', [platform.url])
  const peer = await serve('peer-server.ts', [platform.url, platform.key])
  const headers = {
    authorization: `Bearer ${platform.key}`,
    accept: 'application/json',
    'accept-encoding': 'identity',
  }
  const last = await lastPage(api, headers)
  await warmed(pageOf(api, ''), headers)
  const usual = `${peer.url}/orders?strategy=1`
  await sameRows(pageOf(api, ''), usual, headers)
  const method = (name: string, url: string) => ({
    name,
    unit: 'pages/s',
    measure: async () => (await load({ url, headers }, connections, roundSeconds)).rate,
  })
  const figures = await interleaved(
    [
      method('usual way, first page', usual),
      method('product, first page', pageOf(api, '')),
      method('product, last page', pageOf(api, last)),
      method('usual way, last page', `${usual}&after=${total - 1000}`),
    ],
    rounds,
  )
  api.stop()
  peer.stop()
  await platform.close()
  return {
    figures,
    ratios: [
      ratioOf(figures, 'product, first page', 'usual way, first page', { atLeast: 3 }),
      ratioOf(figures, 'product, last page', 'usual way, last page', { atLeast: 3 }),
      ratioOf(figures, 'product, first page', 'product, last page', { atMost: 1.5 }),
    ],
  }
}

type Platform = Awaited<ReturnType<typeof startPlatform>>

/** A million filled and canceled orders, as the engine would have left them. */
async function fill(db: Platform['db']): Promise<void> {
  await db.transaction(
    (tx) => tx.run`
    insert into signal (strategy_id, instrument_id, side, ord_type, time_in_force, position_effect, order_qty, limit_px,
      status, cum_qty, avg_px, posted_at, working_at, ended_at, membership_horizon)
    select 1, i.id, case n % 2 when 0 then '2' else '1' end, '2', '1', case n % 2 when 0 then 'C' else 'O' end,
      10 + n % 90, 100 + (n % 1000) * 0.25, case n % 5 when 0 then '4' else '2' end,
      case n % 5 when 0 then 0 else 10 + n % 90 end, case n % 5 when 0 then null else 100 + (n % 1000) * 0.25 end,
      timestamptz '2020-01-01' + n * interval '1 minute', timestamptz '2020-01-01' + n * interval '1 minute',
      timestamptz '2020-01-01' + n * interval '2 minutes', 0
    from generate_series(1, ${total}::int) n, instrument i where i.symbol = ${symbol}`,
    { statementTimeoutMs: 300_000 },
  )
  await db.write.run`set statement_timeout = '5min'`
  await db.write.run`vacuum analyze signal`
}

interface Page {
  readonly Results: readonly object[]
  readonly Pagination?: { readonly next_cursor?: string }
}

const pageAt = async (url: string, headers: Record<string, string>): Promise<Page> =>
  (await (await fetch(url, { headers })).json()) as Page

/** Walks through all pages as a client does; answers the cursor of the last. Throws when a row is missing. */
async function lastPage(api: Served, headers: Record<string, string>): Promise<string> {
  let cursor = ''
  for (let seen = 0; ; ) {
    const { Results, Pagination } = await pageAt(pageOf(api, cursor), headers)
    seen += Results.length
    const next = Pagination?.next_cursor
    if (next) cursor = `&Cursor=${next}`
    else if (seen !== total) throw new Error(`${seen} rows of ${total}`)
    else return cursor
  }
}

/** Until every connection to the database is there: on a busy machine the first readers may be refused. */
async function warmed(url: string, headers: Record<string, string>): Promise<void> {
  for (;;) {
    const answers = await Promise.all(Array.from({ length: connections }, () => fetch(url, { headers })))
    await Promise.all(answers.map((answer) => answer.text()))
    if (answers.every(({ ok }) => ok)) return
  }
}

/** Both say the same: otherwise the comparison means nothing. */
async function sameRows(one: string, other: string, headers: Record<string, string>): Promise<void> {
  const [own, usual] = await Promise.all([pageAt(one, headers), pageAt(other, headers)])
  if (JSON.stringify(own.Results) !== JSON.stringify(usual.Results)) throw new Error('the two lists differ')
}

export const bench: Bench = { name: 'lists', run }
