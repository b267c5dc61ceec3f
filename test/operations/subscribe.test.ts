/** Subscribing by Autotrade: who sees a strategy's orders then, and how it ends. */
import { beforeAll, describe, expect, test } from 'vitest'
import { call, faultsOf, resultsOf } from '../support/http.ts'
import { buildTown, type Citizen, holderAccount, type Town, townStart } from './support/town.ts'

let town: Town

interface Row {
  kind: string
  status: string
  isCancelPending: boolean
  termEndsAt: number | null
  basePrice: number
}

beforeAll(async () => {
  town = await buildTown()
})

const subscriptionOf = (personId: number, strategyId: number): Promise<Row[]> =>
  town.platform.db.read.rows<Row>`
    select kind, status, is_cancel_pending as "isCancelPending", term_ends_at as "termEndsAt",
      base_price as "basePrice"
    from subscription where person_id = ${personId} and strategy_id = ${strategyId} order by id`

const sees = async (name: keyof Town['people'], strategyId: number): Promise<number> =>
  (await town.ask('GetStrategyActiveOrders', { StrategyIds: strategyId }, { key: town.people[name].key }))
    .status

describe('the door opens subscriptions', () => {
  test.each([
    ['paid', 200],
    ['paper', 200],
    ['simulated', 403],
  ] as const)('a %s one answers %d to a look at the orders', async (kind, status) => {
    const people = [{ firstName: kind, email: `${kind}@example.org` }]
    const [person = town.people.stranger] = await town.door<Citizen[]>('/people', people)
    const wanted = { personId: person.personId, strategyId: town.lonelyStrategyId, kind }
    await town.door('/subscriptions', [wanted])
    const answer = await town.ask(
      'GetStrategyActiveOrders',
      { StrategyIds: town.lonelyStrategyId },
      { key: person.key },
    )
    expect(answer.status).toBe(status)
  })

  test.each([
    ['an unknown person', { personId: 999_999 }, '[0].personId'],
    ['an unknown strategy', { strategyId: 999_999 }, '[0].strategyId'],
    ['a start that is to come', { start: '2030-01-01T00:00:00Z' }, '[0].start'],
  ])('but not for %s', async (_name, wrong, field) => {
    const { personId } = town.people.stranger
    const body = [{ personId, strategyId: town.lonelyStrategyId, kind: 'paid', ...wrong }]
    const answer = await call(town.platform.url, '/test/subscriptions', { body })
    expect(answer.status).toBe(400)
    expect(answer.text).toContain(field)
  })
})

describe('Autotrade', () => {
  test('subscribes whoever starts it, for a term of 30 days', async () => {
    const { holder } = town.people
    const month = 30 * 86_400_000
    expect(await subscriptionOf(holder.personId, town.strategyId)).toEqual([
      {
        kind: 'paid',
        status: 'active',
        isCancelPending: false,
        basePrice: 0,
        termEndsAt: Date.parse(townStart) + month,
      },
    ])
    expect(await sees('holder', town.strategyId)).toBe(200)
    expect(await sees('stranger', town.strategyId)).toBe(403)
  })

  test('stopped, leaves the subscription unless asked to end it with its term', async () => {
    const { holder } = town.people
    const stop = { Account: holderAccount, PersonId: holder.personId, StrategyId: town.strategyId }
    const start = { ...stop, StocksEnabled: true }
    expect((await town.ask('StopAutotrade', stop, holder)).json).toBe(true)
    expect((await subscriptionOf(holder.personId, town.strategyId))[0]?.isCancelPending).toBe(false)
    expect(await sees('holder', town.strategyId)).toBe(200)
    expect((await town.ask('StartAutotrade', start, holder)).json).toBe(true)
    const terminate = { ...stop, TerminateStrategySubscription: true }
    expect((await town.ask('StopAutotrade', terminate, holder)).json).toBe(true)
    expect(await subscriptionOf(holder.personId, town.strategyId)).toMatchObject([
      { status: 'active', isCancelPending: true },
    ])
    expect(await sees('holder', town.strategyId)).toBe(200)
    expect((await town.ask('StartAutotrade', start, holder)).json).toBe(true)
    expect(await subscriptionOf(holder.personId, town.strategyId)).toMatchObject([
      { status: 'active', isCancelPending: false },
    ])
  })

  test('stopped in a simulated account, ends the simulation at once when asked to', async () => {
    const { stranger } = town.people
    const account = { Account: 'SIM9', PersonId: stranger.personId, StrategyId: town.strategyId }
    await town.door('/accounts', [{ account: 'SIM9', personId: stranger.personId, kind: 'sim', cash: 1000 }])
    expect((await town.ask('StartAutotrade', { ...account, StocksEnabled: true }, stranger)).json).toBe(true)
    const terminate = { ...account, TerminateStrategySubscription: true }
    expect((await town.ask('StopAutotrade', terminate, stranger)).json).toBe(true)
    expect(await subscriptionOf(stranger.personId, town.strategyId)).toMatchObject([
      { kind: 'simulated', status: 'ended', isCancelPending: false },
    ])
    const [result] = resultsOf<{ EndEquity: number }>(
      await town.ask('GetSimResults', { ActiveOnly: false }, stranger),
    )
    expect(result?.EndEquity).toBe(99_999)
  })

  test('turns a simulated subscription into a paid one', async () => {
    const { neighbour } = town.people
    const strategyId = town.lonelyStrategyId
    await town.door('/subscriptions', [{ personId: neighbour.personId, strategyId, kind: 'simulated' }])
    await town.door('/accounts', [{ account: 'U200', personId: neighbour.personId, cash: 1000 }])
    const start = { Account: 'U200', StrategyId: strategyId, StocksEnabled: true }
    expect((await town.ask('StartAutotrade', start, neighbour)).json).toBe(true)
    expect(await subscriptionOf(neighbour.personId, strategyId)).toMatchObject([
      { kind: 'simulated', status: 'ended' },
      { kind: 'paid', status: 'active' },
    ])
  })

  test('started again after the subscription has ended, opens the next one', async () => {
    const { stranger } = town.people
    const { personId } = stranger
    const [first, second] = ['PA1', 'PA2'].map((account) => ({
      account,
      personId,
      kind: 'paper',
      cash: 1000,
    }))
    await town.door('/accounts', [first, second])
    const setupIn = (Account: string) => ({ Account, PersonId: personId, StrategyId: town.strategyId })
    const start = async (account: string) => {
      const answer = await town.ask('StartAutotrade', { ...setupIn(account), StocksEnabled: true }, stranger)
      return [answer.status, ...faultsOf(answer)]
    }
    expect([await start('PA1'), await start('PA2')]).toEqual([[200], [200]])
    const stop = { ...setupIn('PA2'), TerminateStrategySubscription: true }
    expect((await town.ask('StopAutotrade', stop, stranger)).json).toBe(true)
    await town.door('/clock', { now: '2024-04-12T14:00:00Z' })
    const ended = { kind: 'paper', status: 'ended' }
    const paper = async () =>
      (await subscriptionOf(personId, town.strategyId)).filter(({ kind }) => kind === 'paper')
    expect(await paper()).toMatchObject([ended])
    await town.door('/strategies', [{ strategyId: town.strategyId, noSubs: true }])
    expect(await start('PA1')).toEqual([409, '3016 StrategyId'])
    await town.door('/strategies', [{ strategyId: town.strategyId, noSubs: false }])
    expect(await start('PA1')).toEqual([200])
    expect(await paper()).toMatchObject([ended, { kind: 'paper', status: 'active' }])
    expect(await start('PA1')).toEqual([200])
    expect(await paper()).toHaveLength(2)
  })

  test.each([
    ['live', 'U300', 'paid', 'simulated'],
    ['paper', 'PA3', 'paper', 'simulated'],
  ] as const)(
    'changed in a %s account while only a simulation runs, opens a real subscription: money follows nothing else',
    async (account, name, kind, running) => {
      const { start, present } = await lapse(name, account, running)
      const ended = { kind, status: 'ended' }
      expect(await present()).toMatchObject([ended, { kind: 'simulated', status: 'active' }])
      expect((await start()).json).toBe(true)
      const real = { kind, status: 'active' }
      expect(await present()).toMatchObject([ended, { kind: 'simulated', status: 'ended' }, real])
      expect((await start()).json).toBe(true)
      expect(await present()).toHaveLength(3)
    },
  )

  test('changed in a live account while only paper accounts are subscribed for, makes it a paid one', async () => {
    const { start, present } = await lapse('U301', 'live', 'paper')
    const ended = { kind: 'paid', status: 'ended' }
    expect(await present()).toMatchObject([ended, { kind: 'paper', status: 'active' }])
    expect((await start()).json).toBe(true)
    expect(await present()).toMatchObject([ended, { kind: 'paid', status: 'active' }])
  })
})

let lapses = 0

/** Somebody new, whose account still follows a strategy after his subscription has ended; another kind of one runs. */
async function lapse(account: string, kind: 'live' | 'paper', running: string) {
  const people = [{ firstName: account, email: `${account}@example.org` }]
  const [person = town.people.stranger] = await town.door<Citizen[]>('/people', people)
  const { personId } = person
  const strategyId = town.lonelyStrategyId
  await town.door('/accounts', [{ account, personId, kind, cash: 1000 }])
  const own = { Account: account, PersonId: personId, StrategyId: strategyId }
  const start = () => town.ask('StartAutotrade', { ...own, StocksEnabled: true }, person)
  expect((await start()).json).toBe(true)
  await town.platform.db.write.run`
    update subscription set is_cancel_pending = true where person_id = ${personId} and strategy_id = ${strategyId}`
  await town.door('/clock', { now: new Date(Date.UTC(2024, 5 + lapses++ * 2, 1, 14)).toISOString() })
  await town.door('/subscriptions', [{ personId, strategyId, kind: running }])
  return { start, present: () => subscriptionOf(personId, strategyId) }
}
