/**
 * The audit log on the database's side: what becomes an entry and in whose name, that entries stay, and that every
 * way of tampering with them is found.
 */
import { beforeEach, describe, expect, test } from 'vitest'
import {
  type AuditNote,
  actAs,
  insertAuditNotes,
  listAuditEntries,
} from '../../src/storage/database/audit-log.ts'
import { fragment } from '../../src/storage/database/sql.ts'
import {
  type ChainHead,
  listChainHeads,
  lostHeads,
  sealEntries,
  verifyChains,
} from '../../src/storage/operating/audit-chain.ts'
import { emptyPlatform, insertPersons, insertSite } from '../../src/storage/operating/provision.ts'
import { testDatabase } from '../support/database.ts'

const { db } = await testDatabase()

describe('changed rows', () => {
  const bob = { personId: 7, chain: 3 }

  test('are entered in the name of whoever acts, before and after, without what is private', async () => {
    const siteId = await insertSite(db.write, { kind: 'geo', code: 'n', name: 'North', createdAt: 0 })
    await db.transaction(async (tx) => {
      const at = Date.parse('2024-03-12T14:00:00Z')
      const acting = {
        actor: 'person',
        who: String(bob.personId),
        keyId: 'k',
        operation: 'AddProfile',
      } as const
      await actAs(tx, { ...acting, chain: bob.chain, requestId: 'r', at })
      const person = { firstName: 'CANARY', lastName: 'CANARY', email: 'canary@example.org', createdAt: 0 }
      const [id = 0] = await insertPersons(tx, [{ ...person, siteId, role: 'user' }])
      await tx.run`update person set role = 'geosite_admin', phone = '+1 CANARY' where id = ${id}`
      await tx.run`update person set last_ip = 'unwatched', role = 'geosite_admin' where id = ${id}`
      await tx.run`delete from person where id = ${id}`
    })
    const [removed, changed, added, site] = await listAuditEntries(db.read, { limit: 4 })
    const acting = {
      chain: 3,
      actor: 'person',
      who: '7',
      keyId: 'k',
      operation: 'AddProfile',
      requestId: 'r',
      occurredAt: Date.parse('2024-03-12T14:00:00Z'),
    }
    expect(added).toMatchObject({ ...acting, before: null, after: { role: 'user', first_name: '[private]' } })
    expect(changed).toMatchObject({
      ...acting,
      before: { role: 'user', phone: null },
      after: { role: 'geosite_admin', phone: '[private]' },
    })
    expect(removed).toMatchObject({ before: { role: 'geosite_admin', phone: '[private]' }, after: null })
    expect(site).toMatchObject({ chain: 0, actor: 'platform', operation: 'insert', object: `site ${siteId}` })
    const { canaries } = await db.read.one<{ canaries: number }>`
      select count(*)::int as canaries from audit_entry where audit_entry::text like '%CANARY%'`
    expect(canaries).toBe(0)
  })

  test('leave nothing when they are taken back', async () => {
    const last = await listAuditEntries(db.read, { limit: 1 })
    const undone = db.transaction(async (tx) => {
      await tx.run`insert into platform_switch (name, value, changed_at) values ('undone', 'true', now())`
      throw new Error('no')
    })
    await expect(undone).rejects.toThrow('no')
    expect(await listAuditEntries(db.read, { limit: 1 })).toEqual(last)
  })
})

/**
 * What is not watched row by row, and why: `books` follow from orders, reports and prices and have rows of events or
 * bookings that are never changed; `queues` are how work travels; `records` are logs themselves.
 */
const unwatched = {
  books: [
    ...[
      'account_adjustment',
      'account_day',
      'account_order',
      'account_position',
      'account_record',
      'account_skip',
    ],
    ...[
      'charge',
      'daily_mark',
      'execution',
      'fee_settlement',
      'fill',
      'ledger_account',
      'ledger_transfer',
      'order_gap',
      'paper_order',
    ],
    ...[
      'position',
      'position_adjustment',
      'position_gap',
      'quote',
      'setup_exclusion',
      'signal',
      'simulated_payment',
    ],
    ...[
      'simulation',
      'strategy_day',
      'strategy_leverage',
      'strategy_record',
      'strategy_statistics',
      'trade',
      'variant_order',
    ],
  ],
  queues: [
    ...[
      'broker_pull',
      'broker_report',
      'dashboard_session',
      'email_confirmation',
      'fix_session',
      'idempotency',
      'lease',
      'mail',
      'paper_report',
      'paper_total',
    ],
    ...['rate_window', 'reconciliation', 'sync_due', 'transmission', 'variant_mark', 'webhook_delivery'],
  ],
  records: [
    ...[
      'account_event',
      'audit_chain',
      'audit_entry',
      'former_symbol',
      'incident',
      'payment_event',
      'schema_migration',
      'secret_mark',
      'sign_in',
    ],
    ...['signal_event', 'site_catalog_past', 'webhook_attempt'],
  ],
}

/** Columns of watched tables that say nothing of what somebody wanted: books, marks of work, the moment itself. */
const moving: Readonly<Record<string, readonly string[]>> = {
  access_key: ['secret_hash', 'masked', 'created_at'],
  account: ['broker_environment', 'cash', 'settings_changed_at', 'created_at', 'xid'],
  account_credential: ['wrapped_key', 'changed_at'],
  account_entry: ['booked_at'],
  approval_request: ['created_at', 'expires_at', 'ended_at', 'xid', 'announced_at'],
  approved_account: ['added_at'],
  broker: ['changed_at', 'traded_types', 'traded_currency'],
  corporate_action: ['resizes', 'imported_at', 'booked_at'],
  instrument: ['xid', 'due_at', 'ended_at'],
  kyc: ['created_at'],
  kyc_info: ['fields', 'photo_1', 'photo_2', 'created_at'],
  payment_method: ['changed_at'],
  person: ['created_at', 'xid', 'last_logged_in_at', 'last_ip'],
  platform_switch: ['changed_at'],
  setup: [
    ...[
      'last_sync_stocks_usa',
      'last_sync_stocks_europe',
      'last_sync_options_usa',
      'last_sync_options_europe',
    ],
    ...['last_sync_futures_usa', 'last_sync_futures_europe', 'last_sync_futures_asia', 'last_sync_forex'],
    ...[
      'joined_version',
      'left_version',
      'fence',
      'started_at',
      'changed_at',
      'closed_at',
      'xid',
      'retries_after',
    ],
    'started_equity',
  ],
  site: ['created_at'],
  site_catalog: ['added_at'],
  strategy: ['started_at', 'cash', 'membership_version', 'terms_changed_at', 'xid'],
  variant: ['created_at', 'look_at'],
  subscription: [
    ...[
      'started_at',
      'term_started_at',
      'term_ends_at',
      'billing_failures',
      'billing_failure_reason',
      'billing_failed_at',
      'chosen_after_charge_id',
      'xid',
    ],
  ],
  watch_list: ['created_at', 'xid'],
  watch_list_member: ['added_at', 'xid'],
  webhook_endpoint: ['created_at', 'failures', 'rests_until', 'delivered_at'],
  webhook_secret: ['wrapped_key', 'created_at'],
}

test('every table is watched or has a reason not to be, and so has every column of those', async () => {
  const rows = await db.read.rows<{ name: string; columns: string[]; args: string | null }>`
    select c.relname as name, array_agg(a.attname::text order by a.attnum) as columns,
      (select encode(tgargs, 'escape') from pg_trigger where tgrelid = c.oid and tgname = 'audited') as args
    from pg_class c join pg_attribute a on a.attrelid = c.oid and a.attnum > 0 and not a.attisdropped
    where c.relnamespace = 'public'::regnamespace and c.relkind = 'r' group by c.oid, c.relname order by 1`
  const plain = rows.filter(({ args }) => args === null).map(({ name }) => name)
  expect(plain).toEqual(Object.values(unwatched).flat().sort())
  const untold = rows.flatMap(({ name, columns, args }) => {
    const told = [...(args ?? '').split(/\\000|,/), ...(moving[name] ?? [])]
    return args === null
      ? []
      : columns.filter((column) => !told.includes(column)).map((column) => `${name}.${column}`)
  })
  expect(untold).toEqual([])
})

describe('entries', () => {
  const attempts = {
    'are not changed': fragment`update audit_entry set after = '{}'`,
    'do not get another place': fragment`update audit_entry set seq = seq + 100`,
    'are not removed': fragment`delete from audit_entry`,
    'are not removed all at once': fragment`truncate audit_entry`,
  }
  test.each(Object.entries(attempts))('%s', async (_, attempt) => {
    await sealEntries(db)
    await expect(db.write.run`${attempt}`).rejects.toThrow(/never changed/)
  })

  test('outlive an emptied platform', async () => {
    const entries = await listAuditEntries(db.read, { limit: 100 })
    await db.transaction(emptyPlatform)
    expect(entries.length).toBeGreaterThan(0)
    expect((await listAuditEntries(db.read, { limit: 100 })).slice(-entries.length)).toEqual(entries)
  })
})

/** Somebody who owns the database and takes the triggers away. */
const tamper = (...statements: string[]) =>
  db.transaction((tx) =>
    tx.script(
      [
        'alter table audit_entry disable trigger user',
        ...statements,
        'alter table audit_entry enable trigger user',
      ].join(';'),
    ),
  )

describe('a chain', () => {
  let heads: ChainHead[]
  let chain = 100
  const note = (object: string): AuditNote => ({
    actor: 'person',
    who: '1',
    operation: 'Test',
    chain,
    object,
    after: { n: 1.5 },
  })

  beforeEach(async () => {
    await tamper('truncate audit_entry, audit_chain')
    chain += 1
    await insertAuditNotes(db.write, ['a', 'b', 'c', 'd', 'e'].map(note))
    await insertAuditNotes(db.write, [{ ...note('other'), chain: 99 }])
    expect(await sealEntries(db)).toBe(6)
    heads = await listChainHeads(db.read)
  })

  const found = async () =>
    (await verifyChains(db.read, heads)).findings.map(({ kind, seq }) => `${kind} ${seq}`)

  test('that nobody touched is sound, and goes on', async () => {
    expect(heads.map(({ chain: of, seq }) => [of, seq])).toEqual([
      [99, 1],
      [chain, 5],
    ])
    await insertAuditNotes(db.write, [note('f')])
    expect(await verifyChains(db.read, heads)).toEqual({ verified: 6, unsealed: 1, findings: [] })
    await sealEntries(db)
    expect(await verifyChains(db.read, heads)).toEqual({ verified: 7, unsealed: 0, findings: [] })
    expect(await lostHeads(db.read, heads)).toEqual([])
  })

  const own = () => `where chain = ${chain}`
  const tamperings: [string, () => string[], string[]][] = [
    [
      'a changed fact',
      () => [`update audit_entry set after = '{"n": 1.6}' ${own()} and seq = 3`],
      ['altered 3'],
    ],
    ['another actor', () => [`update audit_entry set who = '2' ${own()} and seq = 1`], ['altered 1']],
    [
      'another time',
      () => [`update audit_entry set occurred_at = occurred_at + interval '1 us' ${own()} and seq = 5`],
      ['altered 5'],
    ],
    ['a removed entry', () => [`delete from audit_entry ${own()} and seq = 2`], ['removed 2']],
    ['the first entries removed', () => [`delete from audit_entry ${own()} and seq < 3`], ['removed 1']],
    [
      'a removed entry whose gap was closed',
      () => [
        `delete from audit_entry ${own()} and seq = 2`,
        ...[3, 4, 5].map((seq) => `update audit_entry set seq = ${seq - 1} ${own()} and seq = ${seq}`),
      ],
      ['altered 2', 'altered 3', 'altered 4', 'cutOff 5'],
    ],
    [
      'two entries in each other’s place',
      () => [
        `update audit_entry set seq = 100 ${own()} and seq = 2`,
        `update audit_entry set seq = 2 ${own()} and seq = 3`,
        `update audit_entry set seq = 3 ${own()} and seq = 100`,
      ],
      ['altered 2', 'altered 3', 'altered 4'],
    ],
    [
      'facts of two entries exchanged',
      () => [
        `update audit_entry e set object = o.object from audit_entry o where e.chain = ${chain} and o.chain = ${chain} and e.seq + o.seq = 5 and e.seq in (2, 3)`,
      ],
      ['altered 2', 'altered 3'],
    ],
    [
      'an entry slipped in',
      () => [
        `insert into audit_entry (chain, occurred_at, actor, operation, object, seq, hash) values (${chain}, now(), 'person', 'Test', 'x', 6, '\\x00')`,
      ],
      ['altered 6'],
    ],
    ['the end cut off', () => [`delete from audit_entry ${own()} and seq > 3`], ['cutOff 5']],
    [
      'the end cut off, the database’s own head with it',
      () => [
        `delete from audit_entry ${own()} and seq > 3`,
        `update audit_chain set seq = 3, hash = (select hash from audit_entry ${own()} and seq = 3) ${own()}`,
      ],
      ['cutOff 5'],
    ],
    [
      'a whole chain gone',
      () => [`delete from audit_entry ${own()}`, `delete from audit_chain ${own()}`],
      ['cutOff 5'],
    ],
  ]
  test.each(tamperings)('%s is found', async (_, statements, findings) => {
    await tamper(...statements())
    expect(await found()).toEqual(findings)
  })

  test('written anew from an earlier entry on is found by its head', async () => {
    await tamper(
      `update audit_entry set after = '{"n": 2}' ${own()} and seq = 4`,
      `update audit_entry set seq = null, hash = null ${own()} and seq >= 4`,
      `update audit_chain set seq = 3, hash = (select hash from audit_entry ${own()} and seq = 3) ${own()}`,
    )
    await sealEntries(db)
    expect((await verifyChains(db.read, [])).findings).toEqual([])
    expect(await found()).toEqual(['cutOff 5'])
  })
})

test('sixteen writers and four who chain make one chain without gap or fork', async () => {
  await tamper('truncate audit_entry, audit_chain')
  const note = { actor: 'person', who: '1', operation: 'Test', object: 'x', chain: 1 } as const
  const writers = Array.from({ length: 16 }, async () => {
    for (let turn = 0; turn < 10; turn++) await db.transaction((tx) => insertAuditNotes(tx, [note, note]))
  })
  const sealers = Array.from({ length: 4 }, async () => {
    for (let turn = 0; turn < 20; turn++) await sealEntries(db)
  })
  await Promise.all([...writers, ...sealers])
  while ((await sealEntries(db)) > 0);
  expect(await verifyChains(db.read, [])).toEqual({ verified: 320, unsealed: 0, findings: [] })
  expect(await listChainHeads(db.read)).toMatchObject([{ chain: 1, seq: 320 }])
})
