/** One effect and one answer per idempotency key, for handlers of one call and of many. */
import { beforeAll, describe, expect, test } from 'vitest'
import { type Context, type Outcome, refuse } from '../../src/operations/context.ts'
import type { HandlerTable } from '../../src/operations/handler.ts'
import type { Sql } from '../../src/storage/database/sql.ts'
import { purgeAnswers } from '../../src/storage/work/idempotency.ts'
import { testDatabase } from '../support/database.ts'
import { type Answered, type Edge, faultsOf, start, startEdge } from './support/edge.ts'

const path = '/gen/Strategies/AddStrategy'
type Params = { StrategyName?: string }
type Added = Outcome<{ StrategyId: number }>

/** Writes a strategy, then does what its name says. */
async function add(sql: Sql, ctx: Context, { StrategyName = '' }: Params, mood: Mood): Promise<Added> {
  if (StrategyName.startsWith('refused first')) return refuse('StateConflict', 'StrategyName')
  const { id } = await sql.one<{ id: number }>`
    insert into strategy (site_id, owner_person_id, name, started_at, starting_cash, cash)
    values (${ctx.caller.siteId}, ${ctx.caller.personId}, ${StrategyName}, now(), 1, 1) returning id`
  if (StrategyName.startsWith('refused')) return refuse('StateConflict', 'StrategyName')
  if (StrategyName.startsWith('throws')) throw new Error('a bug')
  if (StrategyName.startsWith('once') && !mood.isBetter) return refuse('NotOfferedYet', 'StrategyName')
  if (StrategyName.startsWith('cut') && !mood.isBetter)
    await sql.run`select pg_terminate_backend(pg_backend_pid())`
  return { results: [{ StrategyId: id }], headers: { 'X-Made': String(id) } }
}

interface Mood {
  isBetter: boolean
  batches: number[]
}
const mood: Mood = { isBetter: false, batches: [] }
const alone: HandlerTable = {
  AddStrategy: (ctx, params) => add(ctx.sql, ctx, params, mood),
  Hello: async () => ({ results: ['x'] }),
  SetDesiredPositions: async () => ({
    results: [{ NewSignals: [], CanceledSignals: [], RejectedSignals: [] }],
  }),
}
const together: HandlerTable = {
  AddStrategy: {
    many: async (sql, calls) => {
      mood.batches.push(calls.length)
      const outcomes: Added[] = []
      for (const { ctx, params } of calls) outcomes.push(await add(sql, ctx, params, mood))
      return outcomes
    },
  },
}

let edges: Record<'alone' | 'together' | 'second', Edge>
beforeAll(async () => {
  const { db } = await testDatabase()
  edges = {
    alone: await startEdge({ handlers: alone, db }),
    together: await startEdge({ handlers: together, db }),
    second: await startEdge({ handlers: together, db }),
  }
})

const rowsNamed = async (edge: Edge, name: string): Promise<number> =>
  (await edge.db.read.one<{ count: number }>`select count(*)::int from strategy where name = ${name}`).count
const newKey = async (): Promise<string> => (await edges.alone.key(await edges.alone.person())).key
const send = (edge: Edge, key: string, name: string, idempotencyKey?: string): Promise<Answered> =>
  edge.call(path, {
    key,
    body: JSON.stringify({ StrategyName: name, StartingCapital: 1000 }),
    headers: { 'idempotency-key': idempotencyKey },
  })

describe.each(['alone', 'together'] as const)('a handler %s', (kind) => {
  test('answers a repetition byte by byte and acts once', async () => {
    const [edge, key, name] = [edges[kind], await newKey(), `${kind} repeated`]
    const first = await send(edge, key, name, 'k1')
    const again = await send(edge, key, name, 'k1')
    expect([first.status, again.status, again.text]).toEqual([200, 200, first.text])
    expect(again.headers['x-made']).toBe(first.headers['x-made'])
    expect([first.headers['idempotent-replayed'], again.headers['idempotent-replayed']]).toEqual([
      undefined,
      'true',
    ])
    expect(await rowsNamed(edge, name)).toBe(1)
  })

  test('takes blanks and the order of members for the same request', async () => {
    const [edge, key, name] = [edges[kind], await newKey(), `${kind} reordered`]
    const first = await send(edge, key, name, 'k1')
    const body = `{ "StartingCapital": 1000.0,  "StrategyName": "${name}" }`
    const again = await edge.call(path, { key, body, headers: { 'idempotency-key': 'k1' } })
    expect(again.text).toBe(first.text)
  })

  test('refuses a used key for another body or operation, not for another caller', async () => {
    const [edge, key, name] = [edges[kind], await newKey(), `${kind} used`]
    await send(edge, key, name, 'k1')
    expect(faultsOf(await send(edge, key, `${name} otherwise`, 'k1'))).toEqual([
      { code: '3000', field: 'Idempotency-Key' },
    ])
    const hello = { key, body: '{}', headers: { 'idempotency-key': 'k1' } }
    expect((await edges.alone.call('/gen/General/Hello', hello)).status).toBe(409)
    expect((await send(edge, await newKey(), name, 'k1')).status).toBe(200)
    expect(await rowsNamed(edge, name)).toBe(2)
  })

  test('without a key every request acts', async () => {
    const [edge, key, name] = [edges[kind], await newKey(), `${kind} keyless`]
    await Promise.all([send(edge, key, name), send(edge, key, name)])
    expect(await rowsNamed(edge, name)).toBe(2)
  })

  test('fifty twins at once have one effect and one answer', async () => {
    const [edge, key, name] = [edges[kind], await newKey(), `${kind} twins`]
    const answers = await Promise.all(Array.from({ length: 50 }, () => send(edge, key, name, 'twin')))
    expect(new Set(answers.map(({ status, text }) => `${status} ${text}`)).size).toBe(1)
    expect(answers[0]?.status).toBe(200)
    expect(answers.filter(({ headers }) => headers['idempotent-replayed'] === 'true')).toHaveLength(49)
    expect(await rowsNamed(edge, name)).toBe(1)
  })

  test('a fault of ours is tried anew', async () => {
    const [edge, key] = [edges[kind], await newKey()]
    for (const name of [`throws ${kind}`, `once ${kind}`, `cut ${kind}`]) {
      mood.isBetter = false
      const first = await send(edge, key, name, name.replace(' ', '-'))
      expect(first.status).toBe(name.startsWith('throws') ? 500 : 503)
      if (first.status === 503) expect(first.headers['retry-after']).toBeDefined()
      if (kind === 'alone') expect(await rowsNamed(edge, name)).toBe(0)
      mood.isBetter = true
      const again = await send(edge, key, name, name.replace(' ', '-'))
      expect(again.status).toBe(name.startsWith('throws') ? 500 : 200)
    }
  })

  test('a day later the key is forgotten, by the business clock', async () => {
    const [edge, key, name] = [edges[kind], await newKey(), `${kind} old`]
    await send(edge, key, name, 'k1')
    edge.clock.at = start + 86_400_000 - 1
    await send(edge, key, name, 'k1')
    expect(await rowsNamed(edge, name)).toBe(1)
    edge.clock.at = start + 86_400_000
    await send(edge, key, name, 'k1')
    expect(await rowsNamed(edge, name)).toBe(2)
    edge.clock.at = start
  })
})

const [version1, version2] = ['/gen/Strategies/SetDesiredPositions', '/wl/v2/Strategies/SetDesiredPositions']

test.each([
  [version1, version2],
  [version2, version1],
])('a key used on %s is none for %s', async (used, other) => {
  const [edge, key] = [edges.alone, await newKey()]
  const added = (await send(edge, key, used)).json as { Results: [{ StrategyId: number }] }
  const body = JSON.stringify({ StrategyId: added.Results[0].StrategyId, Positions: [] })
  const set = (to: string) => edge.call(to, { key, body, headers: { 'idempotency-key': 'k1' } })
  const first = await set(used)
  expect([first.status, (await set(used)).text]).toEqual([200, first.text])
  expect(faultsOf(await set(other))).toEqual([{ code: '3000', field: 'Idempotency-Key' }])
})

test.each([
  ['gen', 'wl'],
  ['wl', 'gen'],
])('a key used on %s is none for %s', async (used, other) => {
  const [edge, key, name] = [edges.alone, await newKey(), `on ${used}`]
  const body = JSON.stringify({ StrategyName: name, StartingCapital: 1000 })
  const add = (host: string) =>
    edge.call(`/${host}/Strategies/AddStrategy`, { key, body, headers: { 'idempotency-key': 'k1' } })
  const first = await add(used)
  expect([first.status, (await add(used)).text]).toEqual([200, first.text])
  expect(faultsOf(await add(other))).toEqual([{ code: '3000', field: 'Idempotency-Key' }])
  expect(await rowsNamed(edge, name)).toBe(1)
})

describe('a refused write', () => {
  test('leaves nothing but its answer', async () => {
    const key = await newKey()
    const first = await send(edges.alone, key, 'refused after writing', 'k1')
    expect([first.status, await rowsNamed(edges.alone, 'refused after writing')]).toEqual([409, 0])
    expect((await send(edges.alone, key, 'refused after writing')).status).toBe(409)
    expect(await rowsNamed(edges.alone, 'refused after writing')).toBe(0)
    const again = await send(edges.alone, key, 'refused after writing', 'k1')
    expect([again.text, again.headers['idempotent-replayed']]).toEqual([first.text, 'true'])
  })
})

describe('a batch', () => {
  test('gathers what comes together, isolates the bad call, answers each its own', async () => {
    const key = await newKey()
    mood.batches.length = 0
    const names = Array.from({ length: 40 }, (_, at) =>
      at === 17 ? 'throws in a crowd' : at === 23 ? 'refused first' : `crowd ${at}`,
    )
    const answers = await Promise.all(names.map((name, at) => send(edges.together, key, name, `crowd-${at}`)))
    expect(answers.map(({ status }) => status)).toEqual(
      names.map((_, at) => (at === 17 ? 500 : at === 23 ? 409 : 200)),
    )
    for (const [at, name] of names.entries()) {
      expect(await rowsNamed(edges.together, name)).toBe(at === 17 || at === 23 ? 0 : 1)
    }
    expect(Math.max(...mood.batches)).toBeGreaterThan(5)
  })

  test('with twins that come late is not run again', async () => {
    const key = await newKey()
    const first = await send(edges.together, key, 'late', 'late')
    mood.batches.length = 0
    const crowd = Array.from({ length: 20 }, (_, at) => `neighbour ${at}`)
    const [twins, neighbours] = await Promise.all([
      Promise.all(crowd.map(() => send(edges.together, key, 'late', 'late'))),
      Promise.all(crowd.map((name) => send(edges.together, key, name))),
    ])
    expect(twins.map(({ text }) => text)).toEqual(crowd.map(() => first.text))
    expect(neighbours.map(({ status }) => status)).toEqual(crowd.map(() => 200))
    expect(mood.batches.reduce((sum, calls) => sum + calls, 0)).toBe(20)
  })

  test('tells equal keys with different bodies apart', async () => {
    const key = await newKey()
    const answers = await Promise.all(
      Array.from({ length: 20 }, (_, at) => send(edges.together, key, `split ${at % 2}`, 'split')),
    )
    const winners = answers.filter(({ status }) => status === 200)
    expect(answers.filter(({ status }) => status === 409)).toHaveLength(10)
    expect(new Set(winners.map(({ text }) => text)).size).toBe(1)
    expect((await rowsNamed(edges.together, 'split 0')) + (await rowsNamed(edges.together, 'split 1'))).toBe(
      1,
    )
  })

  test('twins in two processes with many other keys in different order have one effect each', async () => {
    const key = await newKey()
    const names = Array.from({ length: 30 }, (_, at) => `cross ${at}`)
    const answers = await Promise.all([
      ...names.map((name) => send(edges.together, key, name, name.replace(' ', '-'))),
      ...names.toReversed().map((name) => send(edges.second, key, name, name.replace(' ', '-'))),
    ])
    expect(answers.map(({ status }) => status)).toEqual(Array(60).fill(200))
    for (const [at, name] of names.entries()) {
      expect(await rowsNamed(edges.together, name)).toBe(1)
      expect(answers[at]?.text).toBe(answers[59 - at]?.text)
    }
  })
})

test('forgotten answers are deleted, others stay', async () => {
  const { db } = edges.alone
  await send(edges.alone, await newKey(), 'kept', 'kept')
  const dayLater = start + 86_400_000
  expect(await purgeAnswers(db.write, start, 10)).toBe(0)
  expect(await purgeAnswers(db.write, dayLater, 1)).toBe(1)
  expect(await purgeAnswers(db.write, dayLater, 10_000)).toBeGreaterThan(0)
  expect(
    (
      await db.read.one<{ count: number }>`
    select count(*)::int from idempotency where created_at <= ${new Date(start).toISOString()}`
    ).count,
  ).toBe(0)
})
