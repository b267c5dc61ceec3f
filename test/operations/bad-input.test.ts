/**
 * Bad input for every parameter of every offered operation: what is wrong is refused with its name, what is
 * merely strange is read, nothing ends in a 500, and what was refused leaves no trace.
 */
import { afterAll, describe, expect, test } from 'vitest'
import { type HostName, hostNames, type OperationName, routesOf, rows } from '../../src/contract/index.ts'
import type { Row } from '../../src/contract/row.ts'
import { isKnownTo, type Members } from '../../src/contract/schema.ts'
import { fragment, identifier, join } from '../../src/storage/sql.ts'
import { type Answer, call, faultsOf } from '../support/http.ts'
import { type BodyMutation, bodyMutations, type Expectation, queryMutations } from './support/mutations.ts'
import { apple, buildTown, holderAccount } from './support/town.ts'

const town = await buildTown()
const { owner, holder } = town.people
const ofHolder = { Account: holderAccount, PersonId: holder.personId }
const order = {
  ...{ StrategyId: town.strategyId, OrderType: '2', Limit: 50, Side: '1', OrderQuantity: 1, TIF: '1' },
  PlatformSymbol: apple,
}

/** A good call of each operation. */
const good: Partial<Record<OperationName, object>> = {
  Hello: { Name: 'x' },
  GetAccessKey: {},
  GetBrokers: {},
  AddStrategy: { StrategyName: 'new', StartingCapital: 1 },
  GetAutotraders: { StrategyId: town.strategyId },
  NewStrategyOrder: { Order: order },
  ReplaceStrategyOrder: { Order: { ...order, CancelReplaceSignalId: town.signals.filled } },
  CancelStrategyOrder: { StrategyId: town.strategyId, SignalId: town.signals.filled },
  GetStrategyActiveOrders: { StrategyIds: town.strategyId },
  GetStrategyOpenPositions: { StrategyIds: town.strategyId },
  GetStrategyHistoricalOrders: { StrategyId: town.strategyId },
  GetAutotradedStrategies: { PersonId: holder.personId },
  GetAutotradeSettings: { PersonId: holder.personId },
  GetAutotradeActiveOrders: ofHolder,
  GetAutotradeHistoricalOrders: ofHolder,
  GetAutoTradeOpenPositions: { Account: holderAccount },
  StartAutotrade: { ...ofHolder, StrategyId: town.strategyId, StocksEnabled: true },
  StopAutotrade: { ...ofHolder, StrategyId: town.lonelyStrategyId },
}

const offered = hostNames.flatMap((host) =>
  routesOf(host, 'native')
    .filter(({ operation }) => operation in good)
    .map((route) => ({ host, name: route.operation, ...route, path: `/${host.toLowerCase()}${route.path}` })),
)
const keyFor = (operation: OperationName): string =>
  rows[operation].access.rule.startsWith('person') || operation.includes('utotrade') ? holder.key : owner.key
const membersFor = (row: Row, host: HostName): Members =>
  Object.fromEntries(
    Object.entries(row.params).filter(([, field]) => isKnownTo(field, { host, dialect: 'native' })),
  )

let asked = 0
const kept = ['schema_migration', 'lease', 'rate_window']

/** Everything that is stored, as one text: rows and the youngest transaction of each table. */
async function digest(): Promise<string> {
  const { read } = town.platform.db
  const tables = await read.rows<{ name: string }>`
    select tablename as name from pg_tables where schemaname = 'public' and tablename <> all(${kept}::text[]) order by 1`
  const counts = tables.map(
    ({ name }) =>
      fragment`select ${name}::text as name, count(*)::int as rows, max(xmin::text::bigint) as youngest from ${identifier(name)}`,
  )
  return JSON.stringify(await read.rows`select * from (${join(counts, ' union all ')}) stored order by name`)
}

interface Sent {
  readonly what: string
  readonly names: string
  readonly expected: Expectation
  send(): Promise<Answer>
}

/** What is wrong with an answer; undefined when nothing is. */
function complaint({ what, names, expected }: Sent, answer: Answer): string | undefined {
  const said = `${what.slice(0, 160)}: ${answer.status} ${answer.text.slice(0, 300)}`
  if (![200, 304, 400, 403, 404, 409, 503].includes(answer.status)) return said
  if (answer.status >= 400 && faultsOf(answer).length === 0) return `no fault is named: ${said}`
  if (/select |insert |\.ts:\d|at .*\(|pg_|constraint/i.test(answer.text) && answer.status >= 400)
    return `it tells too much: ${said}`
  // A whole query or body that cannot be decoded names no parameter.
  const faults = faultsOf(answer).map((fault) => fault.split(' ')[1] ?? '')
  const isNamed = faults.some(
    (field) => field === '' || field === 'Body' || field.startsWith(names) || names.startsWith(field),
  )
  if (expected === 'refused') return answer.status === 400 && isNamed ? undefined : `not refused: ${said}`
  // A value may be well-formed and still be needed, no multiple of the tick, or not what it replaces.
  const isMeant = /Missing value|multiple of the tick|cannot change it/.test(answer.text)
  const isBlamed =
    answer.status === 400 &&
    !isMeant &&
    faultsOf(answer).some((fault) => fault === `1130 ${names}` || fault === `1102 ${names}`)
  return isBlamed ? `refused: ${said}` : undefined
}

/** Sends all and collects complaints; a refused write must leave everything as it was. */
async function trial(sent: readonly Sent[], isWrite: boolean): Promise<string[]> {
  const complaints: string[] = []
  let before = isWrite ? await digest() : ''
  for (const one of sent) {
    const answer = await one.send()
    asked += 1
    const wrong = complaint(one, answer)
    if (wrong) complaints.push(wrong)
    if (!isWrite) continue
    const after = await digest()
    if (answer.status >= 400 && after !== before)
      complaints.push(`it left a trace: ${one.what.slice(0, 160)} ${answer.text}`)
    before = after
  }
  return complaints
}

/** A JSON text with the value at a path replaced; undefined takes it away. */
function withValue(value: unknown, path: readonly string[], json: string | undefined): string {
  const [name, ...rest] = path
  const holder = (value ?? {}) as Record<string, unknown>
  const members = Object.entries(holder).filter(([member, kept]) => member !== name && kept !== undefined)
  const others = members.map(([member, kept]) => `${JSON.stringify(member)}:${JSON.stringify(kept)}`)
  const inner = rest.length === 0 ? json : withValue(holder[name ?? ''], rest, json)
  return `{${[...others, ...(inner === undefined ? [] : [`${JSON.stringify(name)}:${inner}`])].join(',')}}`
}

describe.each(offered.filter(({ method }) => method === 'POST' || method === 'PUT'))(
  '$host $name',
  ({ host, name, method, path, row }) => {
    const example = good[name] as Record<string, unknown>
    const members = membersFor(row, host)
    const send = (body: string): Promise<Answer> =>
      call(town.platform.url, path, { method, key: keyFor(name), body })
    const sentAs = ({ path: at, json, expected }: BodyMutation): Sent => ({
      what: `${at.join('.')} = ${json}`,
      names: at.join('.'),
      expected,
      send: () => send(withValue(example, at, json)),
    })

    test('every value of every member', async () => {
      expect(await trial(bodyMutations(members).map(sentAs), true)).toEqual([])
    }, 120_000)

    test('members nobody knows, in another case, twice, or of the prototype', async () => {
      const text = JSON.stringify(example)
      const [first = 'Name'] = Object.keys(members)
      const strange = [
        first.toLowerCase(),
        first.toUpperCase(),
        'Role',
        'Id',
        'IsAlive',
        '__proto__',
        'constructor',
        'toString',
        '',
      ]
      const extra = strange.map((member): Sent => {
        const added = `${JSON.stringify(member)}:{"a":1}`
        const body = text === '{}' ? `{${added}}` : `${text.slice(0, -1)},${added}}`
        return { what: body, names: member, expected: 'refused', send: () => send(body) }
      })
      const twice = Object.entries(example).map(([member, value]): Sent => {
        const body = `${text.slice(0, -1)},${JSON.stringify(member)}:${JSON.stringify(value)}}`
        return { what: body, names: member, expected: 'refused', send: () => send(body) }
      })
      const nested = Object.entries(example).flatMap(([member, value]): Sent[] => {
        if (typeof value !== 'object') return []
        const inner = JSON.stringify(value).replace(/^\{/, '{"Nobody":1,')
        const body = withValue(example, [member], inner)
        return [{ what: body, names: `${member}.Nobody`, expected: 'refused', send: () => send(body) }]
      })
      expect(await trial([...extra, ...twice, ...nested], true)).toEqual([])
      expect(({} as Record<string, unknown>).a).toBeUndefined()
    })

    test('bodies that are none', async () => {
      const text = JSON.stringify(example)
      const deep = `${'['.repeat(20_001)}${']'.repeat(20_001)}`
      const bodies = [
        '',
        '{',
        '[]',
        `[${text}]`,
        '1',
        '"x"',
        'null',
        `${text}${text}`,
        `${text},`,
        `${text.slice(0, -1)},}`,
        `/**/${text}`,
        `\ufeff${text}`,
        deep,
        `{"a":${deep}}`,
        "{'Name':1}",
        text.replace('{', '{\u0000'),
        `${' '.repeat(300_000)}${text}`,
      ]
      const sent = bodies.map(
        (body): Sent => ({ what: body, names: 'Body', expected: 'refused', send: () => send(body) }),
      )
      const complaints = await trial(sent, true)
      // Without any member that must be there, an empty body says which are missing.
      expect(complaints).toEqual([])
    })

    test('parameters in the query of a call that takes a body', async () => {
      const answer = await call(town.platform.url, `${path}?Name=1`, {
        method,
        key: keyFor(name),
        body: JSON.stringify(example),
      })
      expect([answer.status, faultsOf(answer)]).toEqual([400, ['1130 Name']])
    })
  },
)

describe.each(offered.filter(({ method }) => method === 'GET' || method === 'DELETE'))(
  '$host $name',
  ({ host, name, method, path, row }) => {
    const example = good[name] as Record<string, unknown>
    const members = membersFor(row, host)
    const send = (query: string): Promise<Answer> =>
      call(town.platform.url, `${path}?${query}`, { method, key: keyFor(name) })
    const others = (without: string): string[] =>
      Object.entries(example)
        .filter(([member]) => member !== without)
        .map(([member, value]) => `${member}=${encodeURIComponent(String(value))}`)

    test('every value of every parameter', async () => {
      const sent = queryMutations(members).map(({ name: parameter, values, expected }): Sent => {
        const query = [...others(parameter), ...values.map((value) => `${parameter}=${value}`)].join('&')
        return { what: query, names: parameter, expected, send: () => send(query) }
      })
      expect(await trial(sent, method === 'DELETE')).toEqual([])
    }, 60_000)

    test('parameters nobody knows, or in another case', async () => {
      const [first = 'PersonId'] = Object.keys(members)
      const strange = [
        first.toLowerCase(),
        `${first}[]`,
        `${first}[0]`,
        'Role',
        '__proto__',
        'constructor',
        'apikey',
        '%00',
        '',
      ]
      const sent = strange.map((parameter): Sent => {
        const query = [...others(''), `${parameter}=1`].join('&')
        return { what: query, names: parameter, expected: 'refused', send: () => send(query) }
      })
      expect(await trial(sent, method === 'DELETE')).toEqual([])
    })

    test('a body where none belongs', async () => {
      const answer = await call(town.platform.url, `${path}?${others('').join('&')}`, {
        method,
        key: keyFor(name),
        body: '{}',
      })
      expect(answer.status).toBe(400)
    })
  },
)

const paged = offered.filter(({ row }) => row.paginated)

describe.each(paged)('cursors of $host $name', ({ name, path }) => {
  const example = good[name] as Record<string, unknown>
  const send = (more: Record<string, string>, key = keyFor(name)): Promise<Answer> => {
    const query = new URLSearchParams({
      ...Object.fromEntries(Object.entries(example).map(([member, value]) => [member, String(value)])),
      ...more,
    })
    return call(town.platform.url, `${path}?${query}`, { key })
  }

  test('what was altered, and limits that are none', async () => {
    const junk = ['x', 'a.b', '%', 'AAAA'.repeat(100), '../..', "'--", 'null', '\u0001']
    const sent = junk.map(
      (Cursor): Sent => ({
        what: `Cursor=${Cursor}`,
        names: 'Cursor',
        expected: 'refused',
        send: () => send({ Cursor }),
      }),
    )
    expect(await trial(sent, false)).toEqual([])
    expect((await send({ Cursor: '' })).status).toBe(200)
    expect((await send({ Limit: '5000' })).status).toBe(200)
  })
})

describe('a cursor', () => {
  const path = '/gen/Strategies/GetStrategyHistoricalOrders'
  const list = (query: string, key = owner.key) =>
    call(town.platform.url, `${path}?StrategyId=${town.strategyId}&${query}`, { key })
  const next = async () => {
    const answer = await list('Limit=1')
    return (answer.json as { Pagination: { next_cursor: string } }).Pagination.next_cursor
  }
  const told = (answer: Answer) => [answer.status, ...faultsOf(answer)]

  test('is bound to operation, filter, order and key, and to every one of its bytes', async () => {
    const cursor = await next()
    expect((await list(`Limit=1&Cursor=${cursor}`)).status).toBe(200)
    const flipped = cursor.replace(/^./, (first) => (first === 'A' ? 'B' : 'A'))
    const wrong = [
      list(`Limit=1&Cursor=${flipped}`),
      list(`Limit=1&Cursor=${cursor.slice(0, -4)}`),
      list(`Limit=1&OrderStatus=2&Cursor=${cursor}`),
      list(`Limit=1&AscendingOrder=false&Cursor=${cursor}`),
      list(`Limit=1&Cursor=${cursor}`, town.people.westAdmin.key),
      call(town.platform.url, `/gen/Autotrade/GetAutotraders?Cursor=${cursor}`, { key: owner.key }),
    ]
    for (const answer of await Promise.all(wrong)) expect(told(answer)).toEqual([400, '3003 Cursor'])
  })

  test('lives one hour', async () => {
    const cursor = await next()
    await town.door('/clock', { now: '2024-03-12T14:59:00Z' })
    expect((await list(`Limit=1&Cursor=${cursor}`)).status).toBe(200)
    await town.door('/clock', { now: '2024-03-12T15:01:00Z' })
    expect(told(await list(`Limit=1&Cursor=${cursor}`))).toEqual([400, '3004 Cursor'])
  })
})

test('nothing was logged as an error, and the books are sound', async () => {
  expect(town.platform.errors).toEqual([])
  const audit = await call(town.platform.url, '/test/audit')
  expect(audit.json).toEqual({ violations: [] })
})

afterAll(() => console.log(`${asked} requests of bad input`))
