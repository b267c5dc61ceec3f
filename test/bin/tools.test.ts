/** The operator's tools as an operator runs them: what they set is there, what cannot be is said and leaves nothing. */
import { writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { beforeAll, describe, expect, test, vi } from 'vitest'
import { told as inWords } from '../../src/bin/tool.ts'
import { savePaymentMethod } from '../../src/storage/billing/payment-methods.ts'
import { commandLine } from '../support/command-line.ts'
import { testDatabase } from '../support/database.ts'
import { operatorBy } from '../support/operator.ts'

const { db, url } = await testDatabase()
const { folder, run: runProcess, runHere: run } = commandLine(url)
const { told, refused, addPeople, addStrategy } = operatorBy(run)
const patience = 120_000

let customer = 0
let owner = 0
let strategyId = 0
const id = (number: number) => String(number)

beforeAll(async () => {
  ;({ customer, owner } = await addPeople())
  strategyId = await addStrategy(owner)
}, patience)

test(
  'people need an e-mail address',
  async () => {
    const words = ['people', 'add', '--first', 'A', '--last', 'B', '--email']
    expect(await refused(...words, 'nobody')).toBe('lockstep: nobody is no e-mail address')
    expect(await refused(...words, 'OWNER@x.org')).toBe('lockstep: a person has this address already')
  },
  patience,
)

test(
  'a strategy’s price, texts, privacy, resale and fee, and its end',
  async () => {
    const set = ['strategy', 'set', id(strategyId)]
    await told(
      ...set,
      '--price',
      '49.50',
      '--short',
      'Follows trends',
      '--long',
      'At length',
      '--performance-fee',
      '20',
    )
    await told(...set, '--private', 'on', '--resellable', 'off', '--subscribers', 'off')
    const facts = () => db.read.one`
    select monthly_cost::float8 as price, short_description as short, long_description as long, is_private as private,
      is_resellable as resellable, no_subs_allowed as closed, performance_fee_percent as fee, is_alive as alive
    from strategy where id = ${strategyId}::bigint`
    expect(await facts()).toEqual({
      price: 49.5,
      short: 'Follows trends',
      long: 'At length',
      private: true,
      resellable: false,
      closed: true,
      fee: 20,
      alive: true,
    })
    await told('strategy', 'disable', id(strategyId))
    expect(await facts()).toMatchObject({ alive: false, price: 49.5 })
    await told('strategy', 'enable', id(strategyId))
    await told(...set, '--private', 'off', '--resellable', 'on', '--subscribers', 'on')
    expect(await facts()).toMatchObject({ alive: true, private: false, resellable: true, closed: false })
    expect(await refused(...set, '--performance-fee', '101')).toMatch(/whole number from 0 to 100/)
    expect(await refused(...set, '--private', 'maybe')).toBe(
      'lockstep: --private is one of on, off, not maybe',
    )
    expect(await refused('strategy', 'disable', '999')).toBe('lockstep: there is no strategy 999')
  },
  patience,
)

describe('what sites sell', () => {
  test(
    'catalogs with names and markups',
    async () => {
      const added = await told('catalog', 'add', 'west', id(strategyId))
      expect(added).toMatchObject({ results: [{ StrategyId: strategyId, Ok: true, Status: 'added' }] })
      await told('catalog', 'set', 'west', id(strategyId), '--name', 'Own', '--markup', '5.25')
      expect(await told('catalog', 'list', 'west')).toMatchObject({
        catalog: [
          {
            strategyId,
            originalName: 'Trend',
            displayName: 'Own',
            shortDescription: 'Follows trends',
            basePrice: '49.50',
            markup: '5.25',
          },
        ],
      })
      const { status, output } = await run('call', 'GetSiteCatalog', 'WhiteLabelSiteId=3')
      expect([status, JSON.parse(output)]).toMatchObject([
        0,
        [{ BaseMonthlyCost: 49.5, MarkupDollars: 5.25, SiteMonthlyCost: 54.75 }],
      ])
      expect(await refused('catalog', 'list', 'north')).toBe('lockstep: north is no white-label site')
      expect(await refused('catalog', 'set', 'west', '999', '--name', 'X')).toMatch(/not in the catalog/)
      const unknown = await run('catalog', 'remove', 'west', id(strategyId), '999')
      expect([unknown.status, unknown.output]).toMatchObject([
        1,
        expect.stringContaining('999  There is no such strategy'),
      ])
    },
    patience,
  )

  test(
    'plans, chosen, changed and canceled',
    async () => {
      const { planId } = await told<{ planId: number }>(
        'plans',
        'add',
        'west',
        'Small',
        '--price',
        '30',
        '--strategies',
        '3',
      )
      const large = await told<{ planId: number }>('plans', 'add', 'west', 'Large', '--price', '90.00')
      expect(await told('plans', 'list', 'west')).toMatchObject({
        plans: [{ id: planId, name: 'Small', termDays: 30, price: '30.00' }, {}],
      })
      const choose = (plan: number) => ['plans', 'choose', id(plan), '--person', id(customer)]
      expect(await told(...choose(planId))).toMatchObject({ begins: 'now' })
      expect(await told(...choose(large.planId))).toMatchObject({ begins: 'now' })
      expect(await told(...choose(planId))).toMatchObject({ begins: 'later' })
      await told('plans', 'cancel', 'investor', '--person', id(customer))
      expect(await refused(...choose(999))).toMatch(/not offered/)
      expect(await refused('plans', 'choose', id(planId), '--person', id(owner))).toMatch(/not offered/)
      await told('plans', 'withdraw', id(planId))
      expect(await refused('plans', 'withdraw', id(planId))).toBe(`lockstep: there is no plan ${planId}`)
      const amounts = await db.read.rows<{ amount: number }>`select amount from charge order by id`
      expect(amounts.map(({ amount }) => amount)).toEqual([3_000, 6_000])
    },
    patience,
  )

  test(
    'who pays for Autotrade',
    async () => {
      await told('fees', 'west', '--payer', 'site', '--tiers', '1-10:5,11:4.50')
      const { output } = await run('call', 'GetAutotradePlans', 'WhiteLabelSiteId=3')
      expect(JSON.parse(output)[0].FeePolicy).toEqual({
        Payer: 'site',
        Tiers: [
          { FromAccounts: 1, ToAccounts: 10, PricePerAccount: 5, Currency: 'USD' },
          { FromAccounts: 11, PricePerAccount: 4.5, Currency: 'USD' },
        ],
      })
      expect(await refused('fees', 'west', '--payer', 'site', '--tiers', '1-10:5,12:4')).toMatch(
        /without a gap/,
      )
      expect(await refused('fees', 'west', '--payer', 'none', '--tiers', '1:5')).toMatch(/site that pays/)
    },
    patience,
  )
})

test(
  'families of strategies',
  async () => {
    const create = ['mux', 'create', id(strategyId), '--name', 'Half', '--owner', id(customer)]
    const made = await told<{ strategyId: number }>(
      ...create,
      '--scaling',
      '50',
      '--classes',
      'stocks,futures',
    )
    expect(await told('mux', 'list')).toMatchObject({
      variants: [{ strategyId: made.strategyId, name: 'Half', parentId: strategyId, scalingPercentage: 50 }],
    })
    const { output } = await run('call', 'GetStrategyMuxStatus', 'WhiteLabelSiteId=3')
    expect(JSON.parse(output)).toMatchObject([{ Ok: '1', Summary: { VariantRows: 1 } }])
    expect(await refused(...create, '--classes', 'bonds')).toMatch(
      /--classes is of stocks, options, futures, forex/,
    )
    expect(await refused(...create, '--scaling', '0')).toMatch(/1 to 1000/)
    expect(await refused('mux', 'create', id(strategyId), '--name', 'X', '--owner', id(owner))).toMatch(
      /white-label site/,
    )
    await told('mux', 'end', id(made.strategyId))
    expect(await refused('mux', 'end', id(made.strategyId))).toMatch(/nobody's variant/)
  },
  patience,
)

test(
  'who collects payments, and who has no way to pay there',
  async () => {
    expect(await refused('payments', 'use', 'stripe')).toBe('lockstep: STRIPE_SECRET_KEY is not set')
    vi.stubEnv('STRIPE_SECRET_KEY', 'sk_test_0')
    await told('strategy', 'set', id(strategyId), '--price', '49.50')
    await db.write.run`
      insert into subscription (site_id, person_id, strategy_id, kind, base_price, started_at, term_started_at,
        term_ends_at)
      select site_id, id, ${strategyId}::bigint, 'paper', 100, now(), now(), now() + interval '1 day'
      from person where id = ${customer}::bigint`
    const { output } = await run('payments', 'use', 'stripe')
    expect(output).toBe(
      'Payments are collected by stripe.\n' +
        `Without a way to pay there (payments attach), and declined when their terms turn: ${customer}`,
    )
    // Nothing else about it counts but what the end of its term will ask for.
    const usual = {
      kind: 'paid',
      status: 'active',
      ends: false,
      fee: 0,
      price: '0',
      nextFee: 0,
      alive: true,
      lives: true,
    }
    const isNamed = async (other: Partial<typeof usual>): Promise<boolean> => {
      const now = { ...usual, ...other }
      const ends = now.kind === 'simulated' ? null : new Date(Date.now() + 86_400_000).toISOString()
      await db.write.run`
        update subscription set kind = ${now.kind}, status = ${now.status}, is_cancel_pending = ${now.ends},
          performance_fee_percent = ${now.fee}::int, term_ends_at = ${ends}::timestamptz
        where person_id = ${customer}::bigint and strategy_id = ${strategyId}::bigint`
      await db.write.run`
        update strategy set monthly_cost = ${now.price}::numeric, performance_fee_percent = ${now.nextFee}::int,
          is_alive = ${now.alive} where id = ${strategyId}::bigint`
      await db.write.run`update person set is_alive = ${now.lives} where id = ${customer}::bigint`
      const { withoutMethod } = await told<{ withoutMethod: number[] }>('payments', 'use', 'stripe')
      return withoutMethod.includes(customer)
    }
    for (const named of [
      { price: '10' },
      { price: '10', kind: 'paper' },
      { price: '10', status: 'pending' },
      { nextFee: 20 },
      { fee: 20 },
      { fee: 20, ends: true },
      { fee: 20, status: 'suspended' },
    ])
      expect([named, await isNamed(named)]).toEqual([named, true])
    for (const unnamed of [
      { price: '0' },
      { price: '0.49' },
      { price: '10', kind: 'simulated' },
      { price: '10', status: 'suspended' },
      { price: '10', ends: true },
      { price: '10', alive: false },
      { fee: 20, kind: 'paper' },
      { fee: 20, status: 'pending' },
      { fee: 20, ends: true, lives: false },
    ])
      expect([unnamed, await isNamed(unnamed)]).toEqual([unnamed, false])
    expect(await isNamed({ price: '10' })).toBe(true)
    const there = { provider: 'stripe', customerRef: 'cus_1', methodRef: 'pm_1' } as const
    await savePaymentMethod(db.write, { personId: customer, at: Date.now(), ...there })
    expect(await told('payments', 'use', 'stripe')).toMatchObject({ withoutMethod: [] })
  },
  patience,
)

test(
  'an id that is none',
  async () => {
    const typed = [
      ['kyc', 'token', 'me'],
      ['people', 'role', '1.5', 'user'],
      ['people', 'account', '-3', 'U1', '--broker', '1'],
      ['brokers', 'set', 'b1', '--enabled', 'off'],
      ['payments', 'retry', '1e3'],
    ]
    for (const words of typed) expect(await refused(...words)).toMatch(/^lockstep: \S+ is no id$/)
  },
  patience,
)

test(
  'the mass switch and maintenance',
  async () => {
    const value = async (name: string) =>
      (await db.read.maybe<{ value: unknown }>`select value from platform_switch where name = ${name}`)?.value
    expect(await told('openings', 'off')).toEqual({ openings: 'off' })
    expect(await value('noOpeningOrders')).toBe(true)
    await told('openings', 'on')
    expect(await value('noOpeningOrders')).toBe(false)
    expect(await refused('openings', 'perhaps')).toBe('lockstep: openings is one of on, off, not perhaps')
    await told('maintenance', 'on')
    expect(await value('maintenance')).toBe(true)
    await told('maintenance', 'off')
  },
  patience,
)

test(
  'instruments from a file, whole or not at all',
  async () => {
    const file = join(folder, 'instruments.csv')
    const importing = (text: string) => {
      writeFileSync(file, text)
      return ['import', 'instruments', file]
    }
    const head = 'symbol,securityType,currency,calendar,pointValue,tick,initialMargin,description'
    const lines = ['SAP,stock,EUR,EUREX,1,0.02,,SAP SE', '@ESM24,future,,,,,12000,', 'EURUSD,,,,,,,']
    const good = importing([head, ...lines].join('\n'))
    expect(await told(...good)).toEqual({ added: 3, known: 0 })
    expect(await told(...good)).toEqual({ added: 0, known: 3 })
    expect(
      await db.read.rows`
      select symbol, security_type as type, currency, calendar, point_value::float8 as point, tick::float8 as tick,
        initial_margin::float8 as margin from instrument where symbol in ('SAP', '@ESM24', 'EURUSD') order by symbol`,
    ).toEqual([
      {
        symbol: '@ESM24',
        type: 'FUT',
        currency: 'USD',
        calendar: 'CME_GLOBEX',
        point: 50,
        tick: 0.25,
        margin: 12_000,
      },
      {
        symbol: 'EURUSD',
        type: 'FOR',
        currency: 'USD',
        calendar: 'FOREX',
        point: 1000,
        tick: 0.00001,
        margin: null,
      },
      { symbol: 'SAP', type: 'CS', currency: 'EUR', calendar: 'EUREX', point: 1, tick: 0.02, margin: null },
    ])
    expect(await refused(...importing('symbol,tick\nNEW,0.01\nOTHER,-1'))).toMatch(
      /^lockstep: .*instruments\.csv, line 3, tick: "-1" cannot be read$/,
    )
    expect(await refused(...importing('symbol,colour\nNEW,red'))).toMatch(
      /line 1: the columns are symbol and some of/,
    )
    expect(await db.read.rows`select from instrument where symbol = 'NEW'`).toEqual([])
  },
  patience,
)

test('what the rows do not allow is told by the name of the rule', async () => {
  await expect(inWords(db.write.run`update person set site_id = 0`)).rejects.toThrow(
    'the rows do not allow it (person_site_id_fkey)',
  )
})

test(
  'calls without a key: refusals are told, rights are those of whom they are made for',
  async () => {
    expect(await refused('call', 'GetProfile', 'PersonId=x')).toMatch(
      /^lockstep: GetProfile was refused: PersonId/,
    )
    expect(await refused('call', 'NoSuch')).toBe('lockstep: no host offers NoSuch')
    expect(await refused('call', 'SearchProfiles', '--person', id(customer))).toMatch(/not authorized/)
    expect(await refused('call', 'AddStrategy', '--body', '{"StrategyName":"X","StartingCapital":1}')).toBe(
      'lockstep: AddStrategy was refused: PersonId Not found',
    )
    expect(await refused('call', 'AddStrategy', '--body', 'text')).toBe('lockstep: --body is a JSON object')
  },
  patience,
)

test(
  'as a process of its own',
  async () => {
    const [done, wrong, missing] = await Promise.all([
      runProcess('strategy', 'set', id(strategyId), '--price', '51', '--json'),
      runProcess('people', 'add', '--first', 'A', '--last', 'B', '--email', 'nobody'),
      runProcess('mux', 'create', id(strategyId)),
    ])
    expect(done).toEqual({ status: 0, output: `{"strategyId":${strategyId}}`, errors: '' })
    expect(wrong).toEqual({ status: 1, output: '', errors: 'lockstep: nobody is no e-mail address\n' })
    expect([missing.status, missing.errors]).toEqual([
      1,
      expect.stringContaining("required option '--name <name>'"),
    ])
  },
  patience,
)
