/** What an operator does in other names, and what he does twice. */
import { beforeAll, expect, test } from 'vitest'
import { operator } from '../../src/bin/acting.ts'
import { addInstrument, addStrategy } from '../execution/world.ts'
import { commandLine } from '../support/command-line.ts'
import { testDatabase } from '../support/database.ts'
import { addBroker, addFollowers } from '../support/followers.ts'
import { operatorBy } from '../support/operator.ts'

const { db, url } = await testDatabase()
const { runHere: run } = commandLine(url)
const { told, addPeople } = operatorBy(run)
const { who: username } = operator()
const ids = { owner: '', admin: '', customer: '' }

beforeAll(async () => {
  const people = await addPeople()
  for (const name of ['owner', 'admin', 'customer'] as const) ids[name] = String(people[name])
})

/** Who changed an object, in order. */
const acts = (object: string) => db.read.rows`
  select distinct on (id) actor, who from audit_entry where object = ${object} order by id`

test('the audit log names the operator of a call, also where it is made in the name of somebody else', async () => {
  const body = JSON.stringify({ StrategyName: 'Trend', StartingCapital: 100_000 })
  const made = await run('call', 'AddStrategy', '--person', ids.owner, '--body', body)
  const [{ StrategyId }] = JSON.parse(made.output)
  const ordered = { OrderType: '1', Side: '1', OrderQuantity: 1, TIF: '0' }
  expect(await acts(`strategy ${StrategyId}`)).toEqual([
    { actor: 'operator', who: `${username} as person ${ids.owner}` },
  ])

  const { brokerId } = await db.write.one<{ brokerId: number }>`
    insert into broker (name, connection_name, environment, adapter) values ('B', 'B', 'live', 'scripted')
    returning id as "brokerId"`
  const holder = ['--person', ids.customer, '--broker', String(brokerId)]
  await told('accounts', 'approve', 'U9', ...holder, '--by', ids.admin)
  await told('accounts', 'withdraw', 'U9')
  const approved = await db.read.one<{ id: number }>`select id from approved_account where account = 'U9'`
  expect(await acts(`approved_account ${approved.id}`)).toEqual([
    { actor: 'operator', who: `${username} as person ${ids.admin}` },
    { actor: 'operator', who: username },
  ])

  const { entries } = await told('audit', 'log')
  const recent = expect.stringMatching(/^20\d\d-\d\d-\d\dT.*Z$/)
  expect(entries).toEqual(expect.arrayContaining([expect.objectContaining({ occurredUtc: recent })]))
  expect((await run('audit', 'log', '--object', 'person 0')).output).toBe('There are no such entries.')

  await addInstrument(db, { symbol: 'AAA' })
  const order = { ...ordered, StrategyId, PlatformSymbol: { FullSymbol: 'AAA', SymbolType: 'stock' } }
  expect((await run('call', 'NewStrategyOrder', '--body', JSON.stringify({ Order: order }))).status).toBe(0)
  expect(await acts('order')).toEqual([{ actor: 'operator', who: username }])
})

test('a site is told once at an address', async () => {
  const add = ['webhooks', 'add', 'west', 'https://x.org/hook']
  const { webhookId } = await told(...add, '--events', 'approval.failed,approval.failed')
  expect(await db.read.one`select event_types as events from webhook_endpoint`).toEqual({
    events: ['approval.failed'],
  })
  expect(await run(...add)).toMatchObject({
    status: 1,
    errors: `lockstep: webhook ${webhookId} tells this site there already: each would tell all`,
  })

  const strategyId = await addStrategy(db)
  await addFollowers(db, { strategyId, brokerId: await addBroker(db), count: 1 })
  await db.write.run`
    with request as (
      insert into approval_request (id, account_id, strategy_id, action, status, choices, created_at, expires_at, ended_at)
      select gen_random_uuid(), a.id, s.id, 'start', state, '{}', now(), now(), now()
      from account a join strategy s on s.id = ${strategyId}::bigint, unnest(array['Failed', 'Failed', 'Failed']) state returning id
    ), numbered as (select id, row_number() over () as place from request)
    insert into webhook_delivery (endpoint_id, approval_request_id, event_type, body, created_at, attempts, next_try_at, delivered_at)
    select ${Number(webhookId)}::bigint, id, 'approval.failed', '{}', timestamptz '2026-01-01' - place * interval '1 day', place,
      case place when 1 then timestamptz '2026-01-02' end, case place when 2 then timestamptz '2026-01-03' end from numbered`
  const { output } = await run('webhooks', 'deliveries', String(webhookId))
  expect(output.split('\n').map((line) => line.replace(/.*: /, ''))).toEqual([
    'is tried next at 2026-01-02T00:00:00.000Z, tries 1',
    'was taken at 2026-01-03T00:00:00.000Z, tries 2',
    'is not tried any more, tries 3',
  ])
  expect(await told('webhooks', 'deliveries', String(webhookId))).toMatchObject({
    deliveries: [
      { nextTryUtc: '2026-01-02T00:00:00.000Z', deliveredUtc: null },
      { nextTryUtc: null, deliveredUtc: '2026-01-03T00:00:00.000Z' },
      { nextTryUtc: null, deliveredUtc: null },
    ],
  })

  await told('webhooks', 'disable', String(webhookId))
  const { webhookId: other } = await told(...add)
  expect(await run('webhooks', 'enable', String(webhookId))).toMatchObject({
    status: 1,
    errors: `lockstep: webhook ${other} tells this site there already: each would tell all`,
  })
  await told('webhooks', 'disable', String(other))
  await told('webhooks', 'enable', String(webhookId))
  // No machine has a name that ends so (RFC 2606).
  await db.write
    .run`update webhook_endpoint set url = 'https://site.invalid/hook' where id = ${Number(webhookId)}`
  const sample = await run('webhooks', 'try', String(webhookId), '--event', 'approval.failed')
  expect(sample).toMatchObject({
    status: 1,
    output: expect.stringMatching(/"Failed".*\nIt did not answer: .*taken\.$/),
  })
  expect(await acts(`webhook_endpoint ${webhookId}`)).toContainEqual({ actor: 'operator', who: username })
  const unknown = await run('webhooks', 'try', '0')
  expect(unknown).toMatchObject({ status: 1, errors: 'lockstep: there is no webhook 0' })
})
