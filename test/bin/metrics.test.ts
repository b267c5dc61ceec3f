/** The pages of measures over real HTTP: what they tell, to whom, and that each alert has a fault that raises it. */
import { mkdtempSync, readFileSync, rmSync } from 'node:fs'
import * as fs from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { afterAll, beforeEach, describe, expect, test, vi } from 'vitest'
import { type Config, readConfig } from '../../src/bin/config.ts'
import { openLog } from '../../src/bin/log.ts'
import { openMetrics, workFamilies } from '../../src/bin/metrics.ts'
import { serveApi } from '../../src/bin/serve.ts'
import { runWorker } from '../../src/bin/worker.ts'
import { sealingStep } from '../../src/execution/audit-log.ts'
import { bookCheckStep } from '../../src/execution/book-check.ts'
import { sendOrders } from '../../src/execution/mirror/sender.ts'
import { type ClaimedDelivery, saveFailed } from '../../src/storage/people/webhook-deliveries.ts'
import { insertIncidents } from '../../src/storage/work/incidents.ts'
import { setSwitch } from '../../src/storage/work/switches.ts'
import { makeAccountWorld } from '../execution/account-world.ts'
import { addInstrument, addStrategy, place } from '../execution/world.ts'
import { testDatabase } from '../support/database.ts'
import { addBroker, addFollowers } from '../support/followers.ts'

vi.mock('node:fs/promises', async (original) => {
  const real = await original<typeof fs>()
  return { ...real, statfs: vi.fn(real.statfs) }
})
const disk = vi.mocked(fs.statfs)
const room = (bavail: number) => disk.mockResolvedValue({ bavail, blocks: 100 } as never)
beforeEach(() => room(50))

const { db } = await testDatabase()
/** Its books are whole. */
const { url } = await testDatabase()
const dataDir = mkdtempSync(join(tmpdir(), 'lockstep-metrics-'))
afterAll(() => rmSync(dataDir, { recursive: true }))
const config = readConfig({ DATA_DIR: dataDir, PORT: '0', METRICS_PORT: '0', LOG_LEVEL: 'silent' })

/** Values by name and labels, as they stand on a page; without an answer Prometheus itself notes that it is down. */
type Page = ReadonlyMap<string, number>

async function read(page: string | undefined): Promise<Page> {
  const answer = await fetch(page ?? '').catch(() => undefined)
  const lines = answer?.status === 200 ? (await answer.text()).split('\n') : []
  const values = lines.flatMap((line) => {
    const [, name, value] = /^([^# ].*) (\S+)$/.exec(line) ?? []
    return name === undefined ? [] : [[name, Number(value)] as const]
  })
  return new Map([['up{job="lockstep"}', Number(answer?.status === 200)], ...values])
}

interface Rule {
  readonly alert: string
  readonly expr: string
  readonly runbook: string
}

const rules: Rule[] = [
  ...readFileSync('docs/operations/alerts.yml', 'utf8').matchAll(
    /- alert: (\w+)\n +expr: (.+)\n(?: +for: \d+[mh]\n)? +annotations:\n +summary: .+\n +runbook: (\S+)/g,
  ),
].map(([, alert = '', expr = '', runbook = '']) => ({ alert, expr, runbook }))

/** The part of Prometheus' language that the rules are written in. */
function termsOf({ expr }: Rule) {
  const [, over = '', name = '', labels = '', than = '', bound] =
    /^(?:(\w+)\()?(\w+)(\{[^}]*\})?(?:\[\d+m\])?\)? (>|<|==) ([\d.]+)$/.exec(expr) ?? []
  return { over, name, labels, than, bound: Number(bound) }
}

/** Whether a rule fires on pages that were read one after the other. */
function fires(rule: Rule, pages: readonly Page[]): boolean {
  const { over, name, labels, than, bound } = termsOf(rule)
  const last = [...(pages.at(-1) ?? [])].filter(([key]) =>
    labels === '' ? key === name || key.startsWith(`${name}{`) : key === `${name}${labels}`,
  )
  return last.some(([key, now]) => {
    const values = pages.map((page) => page.get(key) ?? now)
    const value = {
      abs: Math.abs(now),
      increase: now - (values[0] ?? now),
      avg_over_time: values.reduce((sum, one) => sum + one, 0) / values.length,
    }[over]
    return { '>': (value ?? now) > bound, '<': (value ?? now) < bound, '==': now === bound }[than]
  })
}

const firing = (pages: readonly Page[]): string[] =>
  rules.filter((rule) => fires(rule, pages)).map(({ alert }) => alert)

/** Something of a market that never closes was quoted so long ago. */
const quoted = async (agoMs: number) => {
  const { id } = await addInstrument(db, { calendar: 'CONTINUOUS' })
  await db.write.run`delete from quote`
  await db.write.run`
    insert into quote (instrument_id, bid, ask, quoted_at, is_valid, day)
    values (${id}, 1, 1, ${new Date(Date.now() - agoMs).toISOString()}::timestamptz, true, current_date)`
  return id
}

describe('alerts', () => {
  const world = makeAccountWorld(db)
  const { ctx, clock, paper } = world
  const own = () => workFamilies(ctx.tally, { paper: paper.broker })
  let aheadMs = 0
  const look = async (): Promise<Page> => {
    const page = await openMetrics({ config, db, clock: { now: () => Date.now() + aheadMs }, own })
    const values = await read(page?.url)
    await page?.close()
    return values
  }
  const seconds = 1_000

  /** A strategy of futures with one follower, at work so long ago. */
  const followed = async (agoMs: number) => {
    clock.time = Date.now() - agoMs
    const brokerId = await addBroker(db)
    const strategyId = await addStrategy(db)
    const { id: instrumentId } = await addInstrument(db, { securityType: 'FUT', calendar: 'FOREX' })
    const [setupId = 0] = await addFollowers(db, { strategyId, brokerId, count: 1 })
    return {
      brokerId,
      strategyId,
      instrumentId,
      setupId,
      order: { strategyId, instrumentId, side: '1', goodTillCanceled: true } as const,
    }
  }
  const runStep = (name: string) => world.steps.find((step) => step.name === name)?.run(ctx)
  /** A worker comes and does what waits. */
  const work = async (): Promise<void> => {
    clock.time = Date.now()
    await db.write.run`update account_order set claimed_until = now() where claimed_until is not null`
    await world.drain()
  }

  /** What breaks, what it raises, and how it is mended. */
  const faults: Record<string, [raises: string[], breaks: () => Promise<unknown>, mends: () => unknown]> = {
    'an order that a broker does not answer': [
      ['OutcomeUnknown', 'WorkWaits'],
      async () => {
        const { brokerId, order } = await followed(61 * seconds)
        await place(world, order)
        await runStep('mirrorSignals')
        const place_ = () => Promise.reject(new Error('cut'))
        await sendOrders(ctx, 'paper', { ...paper.broker, place: place_ })
        const unknown = await db.read.rows`
          select from account_order where broker_id = ${brokerId} and unknown_at is not null`
        expect(unknown).toHaveLength(1)
      },
      work,
    ],
    'a signal that no worker plans': [
      ['WorkWaits'],
      async () => place(world, (await followed(31 * seconds)).order),
      work,
    ],
    'a link that is down': [
      ['LinkStuck'],
      async () => paper.controls.down(true),
      () => paper.controls.down(false),
    ],
    'a position without fills': [
      ['BooksDoNotAddUp'],
      async () => {
        const { strategyId, instrumentId } = await followed(0)
        await db.write.run`
          insert into position (strategy_id, instrument_id, quantity, avg_px) values (${strategyId}, ${instrumentId}, 5, 1)`
        await bookCheckStep().run(ctx)
      },
      async () => {
        await db.write.run`delete from position`
        await bookCheckStep().run(ctx)
      },
    ],
    'an audit log that was written anew': [
      ['AuditLogBroken'],
      async () => {
        await addBroker(db)
        const kept = [{ chain: 0, seq: 1, hash: '00'.repeat(32) }]
        await sealingStep({ load: () => kept, save: () => undefined }).run(ctx)
      },
      async () => {
        await addBroker(db)
        await sealingStep({ load: () => [], save: () => undefined }).run(ctx)
      },
    ],
    'something to look at': [
      ['IncidentRaised'],
      () =>
        insertIncidents(db.write, [{ key: 'one', kind: 'UnknownOrder', detail: {}, occurredAt: Date.now() }]),
      () => undefined,
    ],
    'a webhook that is never taken': [
      ['WebhooksGivenUp'],
      async () => {
        const { setupId } = await followed(0)
        const [row] = await db.write.rows<{ id: string; endpointId: number }>`
          with endpoint as (
            insert into webhook_endpoint (site_id, url, event_types, created_at)
            select id, 'https://example.com/', '{approval.completed}', now() from site returning id
          ), request as (
            insert into approval_request (id, account_id, strategy_id, action, status, choices, created_at, expires_at,
              ended_at, announced_at)
            select gen_random_uuid(), account_id, strategy_id, 'stop', 'Completed', '{}', now(), now(), now(), now()
            from setup where id = ${setupId} returning id)
          insert into webhook_delivery (endpoint_id, approval_request_id, event_type, body, created_at, next_try_at)
          select endpoint.id, request.id, 'approval.completed', '{}', now(), now() from endpoint, request
          returning id, endpoint_id as "endpointId"`
        const tried = { ...row, attempts: 0, failures: 0 } as ClaimedDelivery
        const last = { nextTryAt: null, disables: null, restsUntil: null }
        await db.transaction((tx) => saveFailed(tx, tried, last, Date.now()))
      },
      () => db.write.run`delete from webhook_delivery`,
    ],
    'a market of which nothing is quoted any more': [
      ['QuotesStopped'],
      () => quoted(301 * seconds),
      () => quoted(0),
    ],
    'a full disk': [['DiskNearlyFull'], async () => room(9), () => room(11)],
    'a disk that fails': [
      ['DiskNearlyFull'],
      async () => disk.mockRejectedValue(Object.assign(new Error(), { code: 'EIO' })),
      () => room(50),
    ],
    'a clock that is ahead': [
      ['ClockTrouble'],
      async () => {
        aheadMs = 2 * seconds
      },
      () => {
        aheadMs = 0
      },
    ],
    'openings that are off': [
      ['OpeningsStayOff'],
      () => setSwitch(db.write, 'noOpeningOrders', true, Date.now()),
      () => setSwitch(db.write, 'noOpeningOrders', false, Date.now()),
    ],
  }

  test.each(Object.entries(faults))('%s', async (_, [raises, breaks, mends]) => {
    const quiet = await look()
    expect(firing([quiet])).toEqual([])
    await breaks()
    const broken = await look()
    expect(firing([quiet, broken, broken])).toEqual(raises)
    await mends()
    expect(firing([await look()])).toEqual([])
  })

  test('a process that is gone', async () => {
    const page = await openMetrics({ config, db, clock, own })
    await page?.close()
    expect(firing([await read(page?.url)])).toEqual(['ProcessGone'])
  })

  test('each of them is raised by a fault', () => {
    const raised = new Set(['ProcessGone', ...Object.values(faults).flatMap(([names]) => names)])
    expect(rules.map(({ alert }) => alert).sort()).toEqual([...raised].sort())
  })

  test('a market whose only contract has ended wakes nobody', async () => {
    const id = await quoted(301 * seconds)
    await db.write.run`update instrument set ended_at = now() where id = ${id}::bigint`
    expect(firing([await look()])).toEqual([])
  })

  test('while the database is away it says so, and tells what it knows itself', async () => {
    const one = vi.spyOn(db.write, 'rows').mockRejectedValue(new Error('away'))
    const page = await look()
    one.mockRestore()
    expect(page.get('lockstep_database_up')).toBe(0)
    expect(page.get('lockstep_leases_lost_total')).toBe(0)
    expect(page.has('lockstep_unknown_outcomes')).toBe(false)
  })

  test('whoever looks often does not ask the rows each time', async () => {
    const rows = vi.spyOn(db.write, 'rows')
    const page = await openMetrics({ config, db, clock, own })
    await Promise.all([read(page?.url), read(page?.url)])
    expect((await read(page?.url)).get('lockstep_database_up')).toBe(1)
    await page?.close()
    expect(rows).toHaveBeenCalledTimes(1)
    rows.mockRestore()
  })
})

describe('processes', () => {
  const log = openLog(config, 'test')
  const familyOf = (key: string): string => key.split('{')[0]?.replace(/_(bucket|sum|count)$/, '') ?? ''

  test('an api and a worker tell what is documented, and strangers nothing', async () => {
    const worker = await runWorker(config, url, log)
    const time = vi.spyOn(performance, 'now')
    const { timeOrigin } = performance
    // The books are checked after a first rest.
    time.mockImplementation(() => Date.now() - timeOrigin + 60 * 1_000)
    const api = await serveApi(config, url, log)
    const ask = (path: string, init?: RequestInit) => fetch(`${api.url}${path}`, init)
    const hello = { method: 'POST', body: '{}', headers: { authorization: 'Bearer canary' } }
    for (let call = 0; call < 101; call++) await ask('/gen/General/Hello', hello)
    expect((await ask('/metrics')).status).toBe(404)
    expect((await fetch(api.metricsUrl ?? '', { method: 'POST' })).status).toBe(404)
    expect((await fetch(new URL('/livez', api.metricsUrl))).status).toBe(404)
    const checked = async () => (await read(worker.metricsUrl)).has('lockstep_books_violations')
    await vi.waitFor(async () => expect(await checked()).toBe(true), 10_000)
    time.mockRestore()
    const told = await fetch(api.metricsUrl ?? '')
    expect(told.headers.get('content-type')).toBe('text/plain; version=0.0.4; charset=utf-8')
    expect(await told.text()).not.toContain('canary')
    const [counted, worked] = [await read(api.metricsUrl), await read(worker.metricsUrl)]
    await api.close()
    await worker.close()
    expect(Object.fromEntries(counted)).toMatchObject({
      'lockstep_requests_total{operation="Hello",status="401"}': 60,
      'lockstep_requests_total{operation="Hello",status="429"}': 41,
      'lockstep_requests_total{operation="none",status="404"}': 1,
      'lockstep_request_seconds_count{operation="Hello"}': 101,
      'lockstep_request_seconds_bucket{operation="Hello",le="+Inf"}': 101,
      'lockstep_requests_limited_total{by="wrongKeys"}': 40,
      'lockstep_requests_limited_total{by="address"}': 1,
      'lockstep_calls_waiting{calls="writes"}': 0,
      lockstep_database_waiting: 0,
      lockstep_worker_silence_seconds: 0,
    })
    expect(worked.get('lockstep_broker_link_up{broker="paper"}')).toBe(1)
    expect(worked.get('lockstep_books_violations')).toBe(0)
    const served = new Set(
      [...counted.keys(), ...worked.keys()].map(familyOf).filter((name) => name !== 'up'),
    )
    const [, ...cells] = readFileSync('docs/operations/runbook.md', 'utf8').split(/^\| `lockstep_/m)
    // What has not failed yet, and what nobody has quoted, is not listed with a 0.
    const silent = ['step_failures_total', 'broker_silence_seconds', 'quote_age_seconds']
    const known = [...served, ...silent.map((name) => `lockstep_${name}`)]
    const documented = cells.map((cell) => `lockstep_${cell.split('`')[0]}`)
    expect(known.sort()).toEqual(expect.arrayContaining(documented.sort()))
    expect(documented).toEqual(expect.arrayContaining([...served]))
    expect(
      rules.map((rule) => termsOf(rule).name).filter((name) => name !== 'up' && !known.includes(name)),
    ).toEqual([])
  }, 60_000)

  test('a port that is in use is said with the variable that chooses it', async () => {
    const own = () => []
    const clock = { now: Date.now }
    const first = await openMetrics({ config, db, clock, own })
    const metrics: Config['metrics'] = { host: '127.0.0.1', port: Number(new URL(first?.url ?? '').port) }
    const second = openMetrics({ config: { dataDir, metrics }, db, clock, own })
    await expect(second).rejects.toThrow(
      `port ${metrics.port} of 127.0.0.1 is in use; choose another by METRICS_PORT`,
    )
    await first?.close()
  })

  test('without METRICS_PORT there is no page', async () => {
    const quiet = readConfig({ DATA_DIR: dataDir })
    expect(await openMetrics({ config: quiet, db, clock: { now: Date.now }, own: () => [] })).toBeUndefined()
  })
})
