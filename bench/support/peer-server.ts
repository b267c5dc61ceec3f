/**
 * The usual way to serve a list: fastify, a plain pool of the driver, typed rows, JSON.stringify. It reads the
 * same rows by the same index in the same order and says the same members; it knows the key by heart, and has
 * no late rows, no signed cursors and no limits. Started as a child with its database.
 */
import fastify from 'fastify'
import pg from 'pg'

const [url = '', key = ''] = process.argv.slice(2)
pg.types.setTypeParser(pg.types.builtins.INT8, Number)
pg.types.setTypeParser(pg.types.builtins.NUMERIC, Number)
const pool = new pg.Pool({ connectionString: url, max: 10 })
// The database ends before its readers.
pool.on('error', () => undefined)

const page = `
  select o.id, o.strategy_id, s.name, o.side, o.ord_type, o.time_in_force, o.position_effect, o.order_qty, o.cum_qty,
    o.avg_px, o.limit_px, o.stop_px, o.status, o.posted_at, o.signal_type, i.symbol, i.description, i.root, i.currency,
    i.security_exchange, i.security_type
  from signal o join strategy s on s.id = o.strategy_id join instrument i on i.id = o.instrument_id
  where o.strategy_id = $1 and o.status in ('2', '4', '5', '8', 'C') and o.id > $2 order by o.id limit $3`

interface Row {
  [column: string]: string | number | null | Date
}

const shown = (row: Row) => ({
  OrderStatus: row.status,
  FilledQuantity: row.cum_qty,
  AvgFillPrice: row.avg_px ?? 0,
  PostedDate: `${(row.posted_at as Date).toISOString().slice(0, 19)}Z`,
  SignalType: row.signal_type,
  Id: row.id,
  OrderId: String(row.id),
  StrategyId: row.strategy_id,
  StrategyName: row.name,
  SignalId: row.id,
  AvgPx: row.avg_px ?? 0,
  OrderType: row.ord_type,
  Side: row.side,
  OpenClose: row.position_effect,
  OrderQuantity: row.order_qty,
  ...(row.limit_px === null ? {} : { Limit: row.limit_px }),
  ...(row.stop_px === null ? {} : { Stop: row.stop_px }),
  TIF: row.time_in_force,
  PlatformSymbol: { FullSymbol: row.symbol, SymbolType: 'stock', Description: row.description },
  ExchangeSymbol: {
    Symbol: row.root,
    Currency: row.currency,
    SecurityExchange: row.security_exchange,
    SecurityType: row.security_type,
    PriceMultiplier: 1,
  },
})

const server = fastify()
server.get('/orders', async (request, reply) => {
  if (request.headers.authorization !== `Bearer ${key}`) return reply.code(401).send({})
  const { strategy, after = '0', limit = '1000' } = request.query as Record<string, string>
  const { rows } = await pool.query<Row>({
    name: 'page',
    text: page,
    values: [strategy, after, Number(limit) + 1],
  })
  const more = rows.length > Number(limit) ? { Pagination: { next_cursor: String(rows.at(-2)?.id) } } : {}
  const results = rows.slice(0, Number(limit)).map(shown)
  return { Results: results, ...more, ResponseStatus: { ErrorCode: '200' } }
})
process.send?.(await server.listen({ port: 0, host: '127.0.0.1' }))
process.once('disconnect', () => process.exit())
