/**
 * The audit log as operations and operators fill it: whatever changes something is entered in the name of whoever did
 * it, what is refused is not, and no secret and no personal data is ever in it.
 */
import { spawn } from 'node:child_process'
import { mkdtempSync, readFileSync, rmSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { afterAll, describe, expect, inject, test } from 'vitest'
import { operator } from '../../src/bin/acting.ts'
import { auditHeads } from '../../src/bin/audit-heads.ts'
import { readConfig } from '../../src/bin/config.ts'
import { type OperationName, rows } from '../../src/contract/index.ts'
import { sealingStep } from '../../src/execution/audit-log.ts'
import type { WorkContext } from '../../src/execution/context.ts'
import { newTally } from '../../src/execution/tally.ts'
import { type AuditEntry, listAuditEntries } from '../../src/storage/database/audit-log.ts'
import { listChainHeads, sealEntries } from '../../src/storage/operating/audit-chain.ts'
import { resultsOf } from '../support/http.ts'
import { apple, buildTown, type CitizenName, holderAccount, kycInfo, oneAtLimit } from './support/town.ts'

const town = await buildTown()
const { people, strategyId, lonelyStrategyId, signals, sites } = town
const { db } = town.platform
const { personId: PersonId } = people.holder
const ofHolder = { Account: holderAccount, PersonId }
/** In everything that is a secret or tells who somebody is. */
const canary = 'Canary'
const order = {
  StrategyId: strategyId,
  ...oneAtLimit,
  PlatformSymbol: apple,
}

await town.door('/accounts', [
  { account: 'PAPER', personId: PersonId, kind: 'paper', cash: 1_000 },
  { account: 'SECRET', personId: PersonId, cash: 100_000 },
])

/** The strategy's holdings in the account, so that there is something to close. */
let closing = ''

const list = { PersonId, ModificationSource: 'LIST', ModificationAction: 'ADD' }
/** A call of every operation that changes something, by somebody who may, in an order that works. */
const calls: [OperationName, () => object, CitizenName][] = [
  ['AddStrategy', () => ({ StrategyName: canary, StartingCapital: 1 }), 'owner'],
  ['NewStrategyOrder', () => ({ Order: order }), 'owner'],
  [
    'ReplaceStrategyOrder',
    () => ({ Order: { ...order, Limit: 60, CancelReplaceSignalId: signals.working } }),
    'owner',
  ],
  ['SetDesiredPositions', () => ({ StrategyId: lonelyStrategyId, Positions: [] }), 'owner'],
  [
    'AddProfile',
    () => ({
      FirstName: canary,
      LastName: canary,
      ScreenName: canary,
      Email: `${canary}@example.org`,
      Password: `${canary} and long words`,
      Language: 'eng',
      CountryCode: 'US',
      DivisionCode: 'NY',
      WhiteLabelSiteId: sites.west,
      IPAddress: '192.0.2.1',
      City: canary,
      Street: canary,
      Street2: canary,
      ZipCode: canary,
      Company: canary,
      Phone: '+12125550199',
    }),
    'westAdmin',
  ],
  [
    'AddKYCInfo',
    () => ({ UserToken: town.userToken, ...kycInfo, FirstName: canary, Street: canary }),
    'westAdmin',
  ],
  ['UpdateKYCScore', () => ({ UserToken: town.userToken, Score: 3, IsFinished: true }), 'westAdmin'],
  ['ManageWatchList', () => ({ ...list, WatchListName: canary }), 'holder'],
  [
    'ManageWatchListByQuery',
    () => ({
      ...list,
      ModificationSource: 'MEMBER',
      WatchListId: town.watchListId,
      StrategyId: lonelyStrategyId,
    }),
    'holder',
  ],
  ['UpdateSiteCatalog', () => ({ Action: 'Add', StrategyIds: [lonelyStrategyId] }), 'westAdmin'],
  ['StartSim', () => ({ PersonId: people.neighbour.personId, StrategyIds: [lonelyStrategyId] }), 'westAdmin'],
  ['StopSim', () => ({ PersonId: people.neighbour.personId, StrategyId: lonelyStrategyId }), 'westAdmin'],
  [
    'StartAutotrade',
    () => ({
      PersonId,
      Account: 'SECRET',
      StrategyId: strategyId,
      StocksEnabled: true,
      AccountUserName: canary,
      AccountPassword: canary,
    }),
    'holder',
  ],
  ['SetAutotradeSettings', () => ({ ...ofHolder, IsAutoSyncEnabled: false }), 'holder'],
  ['SyncPositionsToOpen', () => ({ ...ofHolder, StrategyId: strategyId }), 'holder'],
  ['NewAutotradeOrder', () => ({ ...ofHolder, Order: { ...order, Side: '2', Limit: 500 } }), 'holder'],
  ['ReplaceAutotradeOrder', () => ({ ...ofHolder, OrderId: closing, Price: 501 }), 'holder'],
  ['CancelAutotradeOrder', () => ({ ...ofHolder, OrderId: closing }), 'holder'],
  ['ResetPaperTrade', () => ({ Account: 'PAPER', PersonId }), 'holder'],
  ['ApprovedAutotradeAccount', () => ({ ...ofHolder, BrokerId: 1 }), 'northAdmin'],
  ['DeleteApprovedAutotradeAccount', () => ofHolder, 'northAdmin'],
  ['ApprovedBrokerTransmitAccount', () => ({ ...ofHolder, Account: 'NEW', BrokerId: 1 }), 'northAdmin'],
  ['DeleteApprovedBrokerTransmitAccount', () => ({ ...ofHolder, Account: 'NEW' }), 'northAdmin'],
  ['StopAutotrade', () => ({ ...ofHolder, StrategyId: strategyId }), 'holder'],
  ['CancelStrategyOrder', () => ({ StrategyId: strategyId, SignalId: signals.canceled }), 'owner'],
]

const hostOf = (operation: OperationName) => rows[operation].hosts[0] ?? 'Gen'
const latest = async (): Promise<AuditEntry[]> => listAuditEntries(db.read, { limit: 1_000 })
const since = async (before: readonly AuditEntry[]) =>
  (await latest()).filter(({ id }) => id > (before[0]?.id ?? 0))

describe('every operation that changes something', () => {
  test('is among these', () => {
    const writing = Object.entries(rows).filter(([, row]) => row.method !== 'GET' && !row.unavailable)
    const names = writing.map(([name]) => name).filter((name) => name !== 'Hello')
    expect(calls.map(([operation]) => operation).sort()).toEqual(names.sort())
  })

  test.each(calls)('%s is entered with who, what and when', async (operation, params, citizen) => {
    if (operation === 'CancelStrategyOrder') {
      const placed = await town.ask('NewStrategyOrder', { Order: order }, { key: people.owner.key })
      Object.assign(signals, { canceled: resultsOf<{ SignalId: number }>(placed)[0]?.SignalId })
    }
    const { key, personId } = people[citizen]
    const before = await latest()
    const headers = { 'x-request-id': `audit-${operation}` }
    const answer = await town.ask(operation, params(), { key, host: hostOf(operation), headers })
    expect([answer.status, answer.text]).toEqual([200, expect.anything()])
    const named = (await since(before)).filter((entry) => entry.operation === operation)
    expect(named.length).toBeGreaterThan(0)
    for (const entry of named) {
      expect(entry).toMatchObject({
        actor: 'person',
        who: String(personId),
        keyId: expect.any(String),
        requestId: `audit-${operation}`,
        occurredAt: Date.parse('2024-03-12T14:00:00Z'),
      })
      expect([entry.before, entry.after]).not.toEqual([null, null])
    }
    if (operation.endsWith('AutotradeOrder') && operation !== 'CancelAutotradeOrder') {
      const active = await town.ask('GetAutotradeActiveOrders', ofHolder, { key })
      closing =
        resultsOf<{ OrderId: string; Limit?: number }>(active).find(({ Limit }) => (Limit ?? 0) >= 500)
          ?.OrderId ?? ''
    }
  })

  test.each(calls.slice(0, 20))('%s leaves only that it was denied', async (operation, params) => {
    const before = await latest()
    const answer = await town.ask(operation, params(), { key: people.stranger.key, host: hostOf(operation) })
    if (operation === 'AddStrategy') expect(answer.status).toBe(200)
    else {
      expect(answer.status).toBe(403)
      expect(await since(before)).toMatchObject([
        { operation, object: 'denied', actor: 'person', who: String(people.stranger.personId), before: null },
      ])
    }
  })
})

test('what was denied is entered by its ids, once an hour however often it is asked for, reads too', async () => {
  const ask = (params: object) => town.ask('GetAutotradeActiveOrders', params, { key: people.neighbour.key })
  const before = await latest()
  const asked = [ofHolder, ofHolder, { ...ofHolder, PersonId: people.owner.personId }, ofHolder]
  const statuses = await Promise.all(asked.map(async (params) => (await ask(params)).status))
  expect(statuses).toEqual([403, 403, 403, 403])
  const entered = async () => (await since(before)).map(({ object, after }) => `${object}: ${after}`).sort()
  const once = [PersonId, people.owner.personId].map((id) => `denied: PersonId=${id}`).sort()
  expect(await entered()).toEqual(once)
  await town.door('/clock', { now: '2024-03-12T15:00:00Z' })
  expect((await ask(ofHolder)).status).toBe(403)
  expect(await entered()).toEqual([...once, `denied: PersonId=${PersonId}`].sort())
})

test('of many ids that were asked for in one call the first are entered, and how many more there were', async () => {
  const before = await latest()
  const StrategyIds = Array.from({ length: 1_000 }, (_, place) => 1_001 + place)
  const answer = await town.ask('GetStrategyActiveOrders', { StrategyIds }, { key: people.neighbour.key })
  expect(answer.status).toBe(403)
  const named = StrategyIds.slice(0, 20).map((id, place) => `StrategyIds[${place}]=${id}`)
  expect((await since(before)).map(({ after }) => after)).toEqual([`${named.join(' ')} and 980 more`])
})

test('orders of one moment are entered once for each key, each with what was asked and answered', async () => {
  const before = await latest()
  const asked = Array.from({ length: 20 }, (_, place) => ({ Order: { ...order, Limit: 40 + place } }))
  const answers = await Promise.all(
    asked.map((params, place) =>
      town.ask('NewStrategyOrder', params, { key: people[place % 2 === 0 ? 'owner' : 'operator'].key }),
    ),
  )
  const ids = answers.map((answer) => resultsOf<{ SignalId: number }>(answer)[0]?.SignalId)
  const entries = (await since(before)).filter(({ operation }) => operation === 'NewStrategyOrder')
  const entered = entries.flatMap(({ who, after }) =>
    (after as string[]).map((line) => `${who} ${line.split(' ').slice(1).join(' ')}`),
  )
  const lines = ids.map((id, place) => {
    const who = people[place % 2 === 0 ? 'owner' : 'operator'].personId
    const { StrategyId, OrderQuantity, PlatformSymbol: symbol } = order
    return [
      `${who} Order.StrategyId=${StrategyId} Order.OrderType=2 Order.Limit=${40 + place}`,
      `Order.Side=1 Order.OrderQuantity=${OrderQuantity} Order.TIF=${order.TIF}`,
      `Order.PlatformSymbol.FullSymbol=${symbol.FullSymbol} Order.PlatformSymbol.SymbolType=${symbol.SymbolType}:`,
      `SignalId=${id}`,
    ].join(' ')
  })
  expect(entered.sort()).toEqual(lines.sort())
  expect(entries.length).toBeLessThan(20)
})

test('a request that is repeated is entered once', async () => {
  const headers = { 'idempotency-key': 'once' }
  const ask = () =>
    town.ask(
      'SetAutotradeSettings',
      { ...ofHolder, IsAutoSyncEnabled: true },
      { key: people.holder.key, headers },
    )
  const before = await latest()
  expect([(await ask()).status, (await ask()).status]).toEqual([200, 200])
  const entries = (await since(before)).filter(({ operation }) => operation === 'SetAutotradeSettings')
  expect(entries).toMatchObject([{ before: { is_sync_enabled: false }, after: { is_sync_enabled: true } }])
})

test('no secret and no personal data is in it', async () => {
  const { text } = await db.read.one<{ text: string }>`
    select string_agg(audit_entry::text, E'\n') as text from audit_entry`
  const secrets = [
    ...[canary, town.userToken, '2125550199', 'long words', '@example.org', kycInfo.Phone, kycInfo.Street],
    ...Object.values(people).map(({ key }) => key.split('_')[3] ?? key),
  ]
  expect(secrets.filter((secret) => text.includes(secret))).toEqual([])
})

describe('the operator', () => {
  const folder = mkdtempSync(join(tmpdir(), 'lockstep-audit-'))
  afterAll(() => rmSync(folder, { recursive: true }))

  /** Runs a command on the town's database; its status and what it printed. */
  async function command(...words: string[]): Promise<{ status: unknown; facts: Record<string, unknown> }> {
    const { database } = await db.read.one<{ database: string }>`select current_database() as database`
    const url = new URL(inject('databaseServer').url.replace('@/', '@local/'))
    url.pathname = `/${database}`
    const env = { ...process.env, DATABASE_URL: url.href.replace('@local/', '@/'), DATA_DIR: folder }
    const child = spawn(process.execPath, ['scripts/lockstep.mjs', ...words, '--json'], { env })
    let printed = ''
    child.stdout.on('data', (chunk) => (printed += chunk))
    child.stderr.on('data', (chunk) => (printed += chunk))
    const status = await new Promise((resolve) => child.once('exit', resolve))
    return { status, facts: printed.startsWith('{') ? JSON.parse(printed) : { printed } }
  }
  const config = () => readConfig({ DATA_DIR: folder })
  const errors: string[] = []
  const log = {
    info: () => {},
    warn: () => {},
    error: (_: object, message: string) => void errors.push(message),
  }
  /** As the worker does. */
  const keep = async () => {
    const ctx = { db, log, tally: newTally() } as Partial<WorkContext> as WorkContext
    return sealingStep(auditHeads(config())).run(ctx)
  }
  const tamper = (statement: string) =>
    db.transaction((tx) => tx.script(`set local session_replication_role = replica; ${statement}`))

  test('is entered by his account and his command', async () => {
    expect((await command('strategy', 'set', String(lonelyStrategyId), '--price', '12')).status).toBe(0)
    const [entry] = await listAuditEntries(db.read, { limit: 1, object: `strategy ${lonelyStrategyId}` })
    expect(entry).toMatchObject({
      chain: 0,
      actor: 'operator',
      who: operator().who,
      operation: 'strategy set',
      before: { monthly_cost: 0 },
      after: { monthly_cost: 12 },
    })
  }, 60_000)

  test('verifies the log against its signed head, and is told what was tampered with', async () => {
    while ((await keep()) > 0);
    const sound = await command('audit', 'verify')
    expect(sound).toMatchObject({ status: 0, facts: { unsealed: 0, findings: [] } })
    expect(auditHeads(config()).load()).toEqual(await listChainHeads(db.read))
    const [last] = await listChainHeads(db.read)
    await tamper(`delete from audit_entry where chain = ${last?.chain} and seq = ${last?.seq}`)
    await tamper(`delete from audit_chain where chain = ${last?.chain}`)
    expect(await command('audit', 'verify')).toMatchObject({
      status: 1,
      facts: { findings: [{ kind: 'cutOff', chain: last?.chain, seq: last?.seq }] },
    })
  }, 60_000)

  test('keeps the head that proves it, whatever is entered afterwards', async () => {
    const kept = readFileSync(join(folder, 'audit-heads.json'), 'utf8')
    await town.ask('AddStrategy', { StrategyName: 'more', StartingCapital: 1 }, { key: people.owner.key })
    expect(await keep()).toBeGreaterThan(0)
    expect(errors).toHaveLength(1)
    expect(readFileSync(join(folder, 'audit-heads.json'), 'utf8')).toBe(kept)
  })

  test('believes no head that was not signed here', async () => {
    const file = join(folder, 'audit-heads.json')
    const kept = JSON.parse(readFileSync(file, 'utf8'))
    writeFileSync(file, JSON.stringify({ ...kept, heads: kept.heads.slice(1) }))
    await town.ask('AddStrategy', { StrategyName: 'yet more', StartingCapital: 1 }, { key: people.owner.key })
    await expect(keep()).rejects.toThrow(/signed/)
  })
})

test('what the worker has to do is chained by it', async () => {
  while ((await sealEntries(db)) > 0);
  const { waiting } = await db.read.one<{ waiting: number }>`
    select count(*)::int as waiting from audit_entry where hash is null`
  expect(waiting).toBe(0)
})
