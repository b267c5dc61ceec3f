/**
 * Bad input for every parameter of every offered operation: what is wrong is refused with its name, what is
 * merely strange is read, nothing ends in a 500, and what was refused leaves no trace.
 */
import { afterAll, describe, expect, test } from 'vitest'
import { rows } from '../../src/contract/index.ts'
import { type Answer, call, faultsOf, resultsOf, told } from '../support/http.ts'
import { type BodyMutation, bodyMutations, faultName, probes, queryMutations } from './support/mutations.ts'
import { buildTown } from './support/town.ts'
import { type Sent, targetsOf, trial, withValue } from './support/trial.ts'

const town = await buildTown()
const { owner } = town.people
const offered = targetsOf(town, 'native')
const bodied = offered.filter(({ method }) => method === 'POST' || method === 'PUT')
const queried = offered.filter(({ method }) => method === 'GET' || method === 'DELETE')
let asked = 0
const tried = (sent: readonly Sent[], isWrite: boolean): Promise<string[]> => {
  asked += sent.length
  return trial(town.platform.db, sent, isWrite)
}

describe.each(bodied)('$host $name', ({ method, path, key, example, members, row }) => {
  const send = (body: string): Promise<Answer> => call(town.platform.url, path, { method, key, body })
  const sentAs = ({ path: at, json, expected }: BodyMutation): Sent => ({
    what: `${at.join('.')} = ${json}`,
    names: faultName(at),
    expected,
    send: () => send(withValue(example, at, json)),
  })

  test('every value of every member', async () => {
    expect(await tried(bodyMutations(members).map(sentAs), true)).toEqual([])
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
      'Approved',
      'Created',
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
      const known = JSON.stringify(value)
      // A list of numbers has no members to hide a strange one among.
      if (!/^\[?\{/.test(known)) return []
      const inner = known.replace(/^\[?\{/, (start) => `${start}"Nobody":1,`)
      const body = withValue(example, [member], inner)
      return [
        {
          what: body,
          names: `${member}${Array.isArray(value) ? '[0]' : ''}.Nobody`,
          expected: 'refused',
          send: () => send(body),
        },
      ]
    })
    expect(await tried([...extra, ...twice, ...nested], true)).toEqual([])
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
      `${' '.repeat((row.bodyMaxBytes ?? 256 * 1024) + 1)}${text}`,
    ]
    const sent = bodies.map(
      (body): Sent => ({ what: body, names: 'Body', expected: 'refused', send: () => send(body) }),
    )
    const complaints = await tried(sent, true)
    // Without any member that must be there, an empty body says which are missing.
    expect(complaints).toEqual([])
  })

  test('parameters in the query of a call that takes a body', async () => {
    const answer = await call(town.platform.url, `${path}?Name=1`, {
      method,
      key,
      body: JSON.stringify(example),
    })
    expect([answer.status, faultsOf(answer)]).toEqual([400, ['1130 Name']])
  })
})

describe.each(queried)('$host $name', ({ method, path, key, example, members }) => {
  const send = (query: string): Promise<Answer> =>
    call(town.platform.url, `${path}?${query}`, { method, key })
  const others = (without: string): string[] =>
    Object.entries(example)
      .filter(([member]) => member !== without)
      .map(([member, value]) => `${member}=${encodeURIComponent(String(value))}`)

  test('every value of every parameter', async () => {
    const sent = queryMutations(members).map(({ name: parameter, values, expected }): Sent => {
      const query = [...others(parameter), ...values.map((value) => `${parameter}=${value}`)].join('&')
      return { what: query, names: parameter, expected, send: () => send(query) }
    })
    expect(await tried(sent, method === 'DELETE')).toEqual([])
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
    expect(await tried(sent, method === 'DELETE')).toEqual([])
  })

  test('a body where none belongs', async () => {
    const answer = await call(town.platform.url, `${path}?${others('').join('&')}`, {
      method,
      key,
      body: '{}',
    })
    expect(answer.status).toBe(400)
  })
})

test('every row of the contract is here, on every host that offers it', () => {
  expect(offered).toHaveLength(160)
  expect(new Set(offered.map(({ name }) => name)).size).toBe(Object.keys(rows).length)
})

const dated = offered.filter(({ members }) => 'StartDate' in members && 'EndDate' in members)

test.each(dated)('$host $name: an end before its start', async ({ method, path, key, example }) => {
  const query = new URLSearchParams({
    ...Object.fromEntries(Object.entries(example).map(([member, value]) => [member, String(value)])),
    StartDate: '2024-03-12T14:00:00Z',
    EndDate: '2024-03-12T13:59:59Z',
  })
  const answer = await call(town.platform.url, `${path}?${query}`, { method, key })
  expect([answer.status, faultsOf(answer)]).toEqual([400, [expect.stringMatching(/ (StartDate|EndDate)$/)]])
})

test.each(probes)('%j comes back as it was sent', async (text) => {
  const { key, personId: PersonId } = town.people.neighbour
  const list = { PersonId, ModificationSource: 'LIST', ModificationAction: 'ADD', WatchListName: text }
  const added = await town.ask('ManageWatchList', list, { key, host: 'WL' })
  const isReadable = added.status === 200
  expect(isReadable ? 200 : faultsOf(added).join()).toBe(isReadable ? 200 : '1130 WatchListName')
  const lists = await town.ask('GetWatchLists', { PersonId }, { key, host: 'WL' })
  const names = resultsOf<{ ListName: string }>(lists).map(({ ListName }) => ListName)
  expect(names.includes(text)).toBe(isReadable)
})

const paged = offered.filter(({ row }) => row.paginated)

describe.each(paged)('cursors of $host $name', ({ path, key, example }) => {
  const send = (more: Record<string, string>): Promise<Answer> => {
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
    expect(await tried(sent, false)).toEqual([])
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

  test('is judged before the right to what it would list', async () => {
    const { key } = town.people.stranger
    expect(told(await list('', key))).toEqual([403, '1002 StrategyId'])
    expect(told(await list(`Cursor=${'a'.repeat(64)}`, key))).toEqual([400, '3003 Cursor'])
    expect(told(await list(`Cursor=${await next()}`, key))).toEqual([400, '3003 Cursor'])
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
