/** What a write begins with is asked for together with the rights, for those alone who had them the last time. */
import { expect, test } from 'vitest'
import { compileRow, rows } from '../../src/contract/index.ts'
import { createRunner, type Run } from '../../src/operations/run.ts'
import { lockStrategies } from '../../src/storage/orders/signals.ts'
import { resultsOf } from '../support/http.ts'
import { untilWaiting } from '../support/locks.ts'
import { secrets } from '../support/platform.ts'
import { apple, buildTown, type Citizen } from './support/town.ts'

const { platform, people, strategyId, lonelyStrategyId, ask } = await buildTown()
const { db } = platform

const orderOf = (id: number, quantity = 1) => ({
  StrategyId: id,
  OrderType: '2',
  Side: '1',
  OrderQuantity: quantity,
  Limit: 1.25,
  TIF: '1',
  PlatformSymbol: apple,
})

const compiled = compileRow(rows.NewStrategyOrder, 'Gen', 'native')

/** A runner whose handler notes how it was called, and answers nothing. */
function noting(): { run: Run; notes: string[] } {
  const notes: string[] = []
  const run = createRunner({
    db,
    clock: { now: () => 0 },
    secrets,
    environment: 'T',
    handlers: {
      NewStrategyOrder: {
        ahead: async (sql, calls) => {
          notes.push(`ahead ${calls.length}`)
          return {
            strategies: await lockStrategies(
              sql,
              calls.map(({ params }) => params.Order.StrategyId),
            ),
          }
        },
        many: async (_, calls, facts) => {
          notes.push(`many ${calls.length} ${facts ? 'facts' : 'undefined'}`)
          return calls.map(() => ({ results: [] }))
        },
      },
    },
  })
  return { run, notes }
}

const callOf = ({ personId }: Citizen, id: number, idempotencyKey?: string): Parameters<Run>[0] => ({
  operation: 'NewStrategyOrder',
  compiled,
  params: { Order: orderOf(id) },
  host: 'Gen',
  dialect: 'native',
  requestId: 'r',
  origin: 'http://localhost',
  idempotencyKey,
  caller: {
    accessKeyId: 1,
    keyId: 'k',
    personId,
    role: 'user',
    siteId: 1,
    siteKind: 'platform',
    permissions: null,
  },
})

test('once they were seen, for all calls of a batch, and only as long as all of them may go on', async () => {
  const { run, notes } = noting()
  const told = async (...calls: Parameters<Run>[0][]) => {
    notes.length = 0
    const replies = await Promise.all(calls.map((call) => run(call)))
    return [replies.map(({ status }) => status), ...notes]
  }
  const own = callOf(people.owner, strategyId)
  const foreign = callOf(people.stranger, strategyId)
  expect(await told(own)).toEqual([[200], 'many 1 undefined'])
  expect(await told(own, own)).toEqual([[200, 200], 'ahead 2', 'many 2 facts'])
  expect(await told(foreign)).toEqual([[403]])
  expect(await told(own, foreign)).toEqual([[200, 403], 'many 1 undefined'])
  expect(await told(own, callOf(people.owner, lonelyStrategyId))).toEqual([[200, 200], 'many 2 undefined'])
  const keyed = callOf(people.owner, strategyId, 'ahead-1')
  expect(await told(keyed)).toEqual([[200], 'ahead 1', 'many 1 facts'])
  expect(await told(keyed, own)).toEqual([[200, 200], 'ahead 2', 'many 1 undefined'])
})

test('the rights of this moment decide, and who has lost them asks no more', async () => {
  const { run, notes } = noting()
  const own = callOf(people.owner, lonelyStrategyId)
  const give = (to: Citizen) =>
    db.write.run`update strategy set owner_person_id = ${to.personId} where id = ${lonelyStrategyId}`
  await run(own)
  await give(people.neighbour)
  notes.length = 0
  expect((await run(own)).status).toBe(403)
  expect(notes).toEqual(['ahead 1'])
  expect((await run(own)).status).toBe(403)
  expect(notes).toEqual(['ahead 1'])
  await give(people.owner)
})

test('a stranger does not wait for the lock of a strategy that is not his', async () => {
  const place = ({ key }: Citizen) => ask('NewStrategyOrder', { Order: orderOf(strategyId) }, { key })
  expect((await place(people.owner)).status).toBe(200)
  let placed: ReturnType<typeof place> | undefined
  await db.transaction(async (tx) => {
    await tx.run`select from strategy where id = ${strategyId} for no key update`
    expect((await place(people.stranger)).status).toBe(403)
    placed = place(people.owner)
    await untilWaiting(db.read)
    expect((await place(people.stranger)).status).toBe(403)
  })
  expect((await placed)?.status).toBe(200)
})

test('a batch of which some have their answer already places the others, each in its own instrument', async () => {
  const headers = { 'idempotency-key': 'ahead-2' }
  const symbol = { FullSymbol: 'EURUSD', SymbolType: 'forex' }
  const first = { Order: orderOf(strategyId, 7) }
  const second = { Order: { ...orderOf(strategyId, 8), PlatformSymbol: symbol } }
  const { key } = people.owner
  const [told] = resultsOf<{ SignalId: number }>(await ask('NewStrategyOrder', first, { key, headers }))
  const [again, fresh] = await Promise.all([
    ask('NewStrategyOrder', first, { key, headers }),
    ask('NewStrategyOrder', second, { key }),
  ])
  expect(resultsOf<{ SignalId: number }>(again)[0]).toEqual(told)
  const id = resultsOf<{ SignalId: number }>(fresh)[0]?.SignalId
  const { symbol: traded } = await db.read.one<{ symbol: string }>`
    select i.symbol from signal s join instrument i on i.id = s.instrument_id where s.id = ${id ?? 0}`
  expect(traded).toBe('EURUSD')
})
