/** Questions of one moment: equal ones share an answer, and nobody gets one that is not his. */
import { expect, test } from 'vitest'
import { compileRow, rows } from '../../src/contract/index.ts'
import type { Caller } from '../../src/operations/context.ts'
import { createRunner } from '../../src/operations/run.ts'
import { secrets } from '../support/platform.ts'
import { buildTown } from './support/town.ts'

const { platform, people, sites, strategyId, lonelyStrategyId, signals, ask } = await buildTown()

test('in the same words by many people, each as far as his rights go', async () => {
  const who = [people.owner, people.holder, people.neighbour, people.stranger, people.operator]
  const asked = Array.from({ length: 40 }, (_, at) => ({
    person: who[at % who.length]!,
    id: at % 3 === 0 ? lonelyStrategyId : strategyId,
  }))
  const one = ({ person, id }: (typeof asked)[number]) =>
    ask('GetStrategyActiveOrders', { StrategyIds: [id] }, { key: person.key })
  const alone = new Map<string, string>()
  for (const each of asked.slice(0, 15)) {
    const { status, text } = await one(each)
    alone.set(`${each.person.personId} ${each.id}`, `${status} ${text}`)
  }
  expect(alone.size).toBe(10)
  const texts = [...alone.values()]
  expect(
    texts.filter((text) => text.startsWith('200') && text.includes(`"Id":${signals.working}`)),
  ).toHaveLength(3)
  expect(texts.filter((text) => text.startsWith('403')).length).toBeGreaterThan(3)
  const together = await Promise.all(asked.map(one))
  expect(together.map(({ status, text }) => `${status} ${text}`)).toEqual(
    asked.map(({ person, id }) => alone.get(`${person.personId} ${id}`)),
  )
  expect(new Set(together.map(({ headers }) => headers['x-request-id'])).size).toBe(asked.length)
})

test('the same words by the same caller, from the same place and about the same age, are one question', async () => {
  let asked = 0
  const run = createRunner({
    db: platform.db,
    clock: { now: () => 0 },
    secrets,
    environment: 'T',
    handlers: {
      GetBrokers: {
        many: async (_, calls) => {
          asked += calls.length
          return calls.map(({ ctx }) =>
            ctx.ifModifiedSince === undefined ? { results: [] } : { notModified: true, headers: {} },
          )
        },
      },
    },
  })
  const compiled = compileRow(rows.GetBrokers, 'Gen', 'native')
  const caller = (keyId: string): Caller => ({
    accessKeyId: 1,
    keyId,
    personId: people.owner.personId,
    role: 'user',
    siteId: 1,
    siteKind: 'platform',
    permissions: null,
  })
  type Call = Parameters<typeof run>[0]
  const usual: Call = {
    operation: 'GetBrokers',
    compiled,
    params: {},
    caller: caller('k1'),
    host: 'Gen',
    dialect: 'native',
    requestId: 'r',
    origin: 'http://one',
  }
  const calls: Call[] = [
    usual,
    { ...usual, requestId: 's' },
    { ...usual, caller: caller('k2') },
    { ...usual, origin: 'http://other' },
    { ...usual, ifModifiedSince: 1 },
    { ...usual, params: {} },
    { ...usual, compiled: compileRow(rows.GetBrokers, 'Gen', 'compat') },
    usual,
  ]
  const replies = await Promise.all(calls.map((call) => run(call)))
  expect(asked).toBe(6)
  expect(replies.map(({ status }) => status)).toEqual([200, 200, 200, 200, 304, 200, 200, 200])
  expect(replies[0]?.body).toBe(replies[7]?.body)
})

test('a report on a site is not begun for who has no right to it', async () => {
  let begun = 0
  const run = createRunner({
    db: platform.db,
    clock: { now: () => 0 },
    secrets,
    environment: 'T',
    handlers: {
      GetWlInstrumentationExport: {
        many: async (_, calls) => {
          begun += calls.length
          return calls.map(() => ({ results: [] }))
        },
      },
    },
  })
  const compiled = compileRow(rows.GetWlInstrumentationExport, 'WL', 'native')
  const from = { host: 'WL', dialect: 'native', requestId: 'r', origin: 'http://one' } as const
  const statusFor = async (role: Caller['role']) => {
    const caller: Caller = {
      accessKeyId: 1,
      keyId: role,
      personId: people.operator.personId,
      role,
      siteId: 1,
      siteKind: 'platform',
      permissions: null,
    }
    const params = { WhiteLabelSiteId: sites.west }
    const call = { operation: 'GetWlInstrumentationExport', compiled, params, caller, ...from } as const
    return (await run(call)).status
  }
  expect([await statusFor('user'), begun]).toEqual([403, 0])
  expect([await statusFor('platform_admin'), begun]).toEqual([200, 1])
})
