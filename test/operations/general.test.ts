/** The General group over HTTP. */
import { describe, expect, test } from 'vitest'
import { type HostName, hostNames } from '../../src/contract/index.ts'
import { faultsOf, resultsOf } from '../support/http.ts'
import { buildTown } from './support/town.ts'

const town = await buildTown()
const { owner, stranger } = town.people
const ask = (operation: 'Hello' | 'GetAccessKey', params: object, host: HostName = 'Gen', key = owner.key) =>
  town.ask(operation, params, { key, host })

describe.each([...hostNames])('on the host %s', (host) => {
  test('Hello greets by name', async () => {
    const { text } = await ask('Hello', { Name: 'Ann' }, host)
    expect(text).toBe('{"Results":["Hello, Ann!"],"ResponseStatus":{"ErrorCode":"200"}}')
  })

  test('GetAccessKey shows its own record, the key masked', async () => {
    const answer = await ask('GetAccessKey', {}, host)
    const [record] = resultsOf<Record<string, string>>(answer)
    expect(answer.text).not.toContain(owner.key)
    expect(record?.AccessKey?.slice(-4)).toBe(owner.key.slice(-4))
  })
})

test('Hello takes any text and gives it back unchanged', async () => {
  for (const Name of [
    '',
    'Ünïcödé 🙂 مرحبا',
    'a"b\\c\r\n\t',
    "'; drop table person;--",
    '<b>{{7*7}}</b>',
    'x'.repeat(200_000),
  ]) {
    expect(resultsOf<string>(await ask('Hello', { Name }))).toEqual([`Hello, ${Name}!`])
  }
})

test.each<[string, object, string]>([
  ['a number', { Name: 1 }, '1130 Name'],
  ['another member', { Nome: 'x' }, '1130 Nome'],
  ['the name in another case', { name: 'x' }, '1130 name'],
  ['text that is too long for a body', { Name: 'x'.repeat(300_000) }, '3010 Body'],
])('Hello refuses %s', async (_, params, fault) => {
  const answer = await ask('Hello', params)
  expect([answer.status, ...faultsOf(answer)]).toEqual([400, fault])
})

test('GetAccessKey takes no parameters', async () => {
  const answer = await ask('GetAccessKey', { Id: 1 })
  expect([answer.status, ...faultsOf(answer)]).toEqual([400, '1130 Id'])
})

test('a key that was issued without a comment has none: what is absent is left out', async () => {
  const [record] = resultsOf(await ask('GetAccessKey', {}))
  expect(Object.keys(record ?? {})).not.toContain('Comment')
})

test('every key shows its own record', async () => {
  const ids = new Set<unknown>()
  for (const { key } of [owner, stranger])
    ids.add(resultsOf(await ask('GetAccessKey', {}, 'Gen', key))[0]?.Id)
  expect(ids.size).toBe(2)
})
