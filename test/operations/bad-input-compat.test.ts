/**
 * The same bad input in the dialect that forgives: more of it is read, and still nothing ends in a 500 and
 * what was refused leaves no trace.
 */
import { afterAll, describe, expect, test } from 'vitest'
import { call } from '../support/http.ts'
import { bodyMutations, queryMutations } from './support/mutations.ts'
import { buildTown } from './support/town.ts'
import { type Sent, targetsOf, trial, withValue } from './support/trial.ts'

const town = await buildTown('compat')
let asked = 0

describe.each(targetsOf(town, 'compat', ['Gen']))('$name', ({ method, path, key, example, members }) => {
  const bodies = (): Sent[] =>
    bodyMutations(members).map(({ path: at, json }) => {
      const spelled = at.map((name) => (name === 'PlatformSymbol' ? 'C2Symbol' : name))
      const body = withValue(example, spelled, json)
      const send = () => call(town.platform.url, path, { method, key, body })
      return { what: body, names: at.join('.'), expected: 'any', send }
    })
  const queries = (): Sent[] =>
    queryMutations(members).map(({ name, values }) => {
      const others = Object.entries(example).filter(([member]) => member !== name)
      const query = [
        ...others.map(([member, value]) => `${member}=${encodeURIComponent(String(value))}`),
        ...values.map((value) => `${name}=${value}`),
      ].join('&')
      const send = () => call(town.platform.url, `${path}?${query}`, { method, key })
      return { what: query, names: name, expected: 'any', send }
    })

  test('takes every value of every parameter in its stride', async () => {
    const sent = method === 'POST' || method === 'PUT' ? bodies() : queries()
    asked += sent.length
    expect(await trial(town.platform.db, sent, method !== 'GET')).toEqual([])
  }, 120_000)
})

test('nothing was logged as an error, and the books are sound', async () => {
  expect(town.platform.errors).toEqual([])
  expect((await call(town.platform.url, '/test/audit')).json).toEqual({ violations: [] })
})

afterAll(() => console.log(`${asked} requests of bad input in the compat dialect`))
