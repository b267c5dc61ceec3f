/**
 * What each process tells on its page of measures: what it counts itself, how it is doing, and what the rows say. The
 * rows are asked once for all who look within five seconds, so looking cannot become a load.
 */
import { monitorEventLoopDelay } from 'node:perf_hooks'
import type { Broker } from '../execution/brokers/broker.ts'
import type { Tally } from '../execution/tally.ts'
import { type Family, type MetricsPage, type Sample, serveMetrics } from '../http/metrics.ts'
import type { Load } from '../operations/run.ts'
import type { Database } from '../storage/database/database.ts'
import { type Measure, takeMeasures } from '../storage/operating/measures.ts'
import type { Config } from './config.ts'
import { portFault } from './port.ts'
import { roomOf } from './readiness.ts'

/** For so long an answer of the database is told again. */
const rememberedMs = 5_000
const lagResolutionMs = 10

export interface Watched {
  readonly config: Pick<Config, 'metrics' | 'dataDir'>
  readonly db: Database
  readonly clock: { now(): number }
  /** What this kind of process counts by itself. */
  readonly own: () => readonly Family[]
}

/** Serves the page where one is wanted. Throws `ConfigError` when its port is in use. */
export async function openMetrics({ config, db, clock, own }: Watched): Promise<MetricsPage | undefined> {
  const { metrics, dataDir } = config
  if (!metrics) return undefined
  const lag = monitorEventLoopDelay({ resolution: lagResolutionMs })
  lag.enable()
  // Not on the connections of short reads, which would wait behind it.
  const measures = remembered(() => takeMeasures(db.write, clock.now()))
  const page = await serveMetrics(metrics, async () => {
    const [rows, room] = await Promise.all([
      measures().catch(() => undefined),
      roomOf(dataDir).catch(() => 0),
    ])
    const families = [...own(), ...connectionFamilies(db), lagFamily(lag), roomFamily(room)]
    return [...families, upFamily(rows !== undefined), ...measureFamilies(rows ?? [])]
  }).catch((error: NodeJS.ErrnoException) => {
    lag.disable()
    throw portFault({ ...metrics, chosenBy: 'METRICS_PORT' }, error)
  })
  return {
    url: page.url,
    close: async () => {
      lag.disable()
      await page.close()
    },
  }
}

/** Asks at most once in a while; those who come meanwhile share the answer, also one that is still on its way. */
function remembered<Answer>(ask: () => Promise<Answer>): () => Promise<Answer> {
  let last: { readonly at: number; readonly answer: Promise<Answer> } | undefined
  return () => {
    const now = performance.now()
    if (last === undefined || now - last.at >= rememberedMs) last = { at: now, answer: ask() }
    return last.answer
  }
}

/** What an api counts beside its requests. */
export const loadFamilies = (load: Load): Family[] => {
  const each = (value: (name: keyof Load) => number): Sample[] =>
    (['reads', 'writes'] as const).map((calls) => ({ labels: { calls }, value: value(calls) }))
  return [
    gauge(
      'calls_waiting',
      'Calls that wait for a batch.',
      each((name) => load[name].waiting),
    ),
    counter('calls_turned_away_total', 'Calls answered 503 as too many were waiting.', [
      ...each((name) => load[name].turnedAway),
    ]),
  ]
}

/** What a worker counts, and whether its brokers can be reached. A link that another worker keeps is told of there. */
export function workFamilies(tally: Tally, brokers: Readonly<Record<string, Broker>>): Family[] {
  const since = (at: number): number => (performance.now() - at) / 1000
  const own = Object.entries(brokers).filter(([, broker]) => broker.isUp() || broker.isElsewhere?.() !== true)
  const { books } = tally
  return [
    counter(
      'step_failures_total',
      'Runs of a step that failed; it runs again by itself.',
      [...tally.stepFailures].map(([step, value]) => ({ labels: { step }, value })),
    ),
    counter('leases_lost_total', 'Leases that were taken away or not confirmed in time.', [
      one(tally.leasesLost),
    ]),
    counter('fence_refusals_total', 'Writes refused because their lease had gone.', [
      one(tally.fenceRefusals),
    ]),
    gauge(
      'broker_link_up',
      'Whether the link to a broker is up.',
      own.map(([broker, { isUp }]) => ({ labels: { broker }, value: Number(isUp()) })),
    ),
    gauge(
      'broker_silence_seconds',
      'Since a broker last answered this worker what its accounts hold; it is asked every minute by one worker.',
      [...tally.answeredAt].map(([broker, at]) => ({ labels: { broker }, value: since(at) })),
    ),
    gauge(
      'books_violations',
      'Rules that the books broke at the last check.',
      books ? [one(books.violations)] : [],
    ),
    gauge('books_checked_seconds', 'Since the books were last checked.', books ? [one(since(books.at))] : []),
    gauge('audit_lost_heads', 'Signed ends that the audit log does not lead to any more.', [
      one(tally.lostHeads),
    ]),
  ]
}

function connectionFamilies(db: Database): Family[] {
  const { total, inUse, waiting } = db.connections()
  return [
    gauge('database_connections', 'Connections for transactions, by state.', [
      { labels: { state: 'used' }, value: inUse },
      { labels: { state: 'idle' }, value: total - inUse },
    ]),
    gauge('database_waiting', 'Callers that wait for such a connection.', [one(waiting)]),
  ]
}

type Lag = ReturnType<typeof monitorEventLoopDelay>

/** Whole rounds of its timer are measured; what exceeds their length is the lag. */
function lagFamily(lag: Lag): Family {
  const late = (percentile: number): number =>
    Math.max(0, (lag.count === 0 ? 0 : lag.percentile(percentile)) / 1e9 - lagResolutionMs / 1000)
  const samples = [50, 99, 100].map((percentile) => ({
    labels: { quantile: String(percentile / 100) },
    value: late(percentile),
  }))
  lag.reset()
  return gauge('event_loop_lag_seconds', 'How late the event loop was since somebody last looked.', samples)
}

const roomFamily = (room: number | undefined): Family =>
  gauge(
    'disk_free_ratio',
    'Part of the disk of the data folder that is free.',
    room === undefined ? [] : [one(room)],
  )

const upFamily = (isUp: boolean): Family =>
  gauge('database_up', 'Whether the database answered; without it nothing below is told.', [
    one(Number(isUp)),
  ])

/** Measures of the rows: what each means, and what its kinds are called. */
const measured: Readonly<
  Record<string, { readonly help: string; readonly label?: string; readonly isCounter?: true }>
> = {
  job_age_seconds: { help: 'Since the oldest due work of its kind waits; 0: none does.', label: 'job' },
  unknown_outcomes: { help: 'Account orders of which nobody knows whether their broker has them.' },
  unknown_outcome_age_seconds: { help: 'Since the oldest of them is unknown.' },
  webhook_age_seconds: { help: 'Since the oldest webhook that was not taken yet was written.' },
  webhooks_given_up: { help: 'Webhooks that are not tried any more and were not taken.' },
  mail_age_seconds: { help: 'Since the oldest message that was not sent yet was written.' },
  broker_differences: { help: 'Differences from a broker that have lasted.', label: 'of' },
  incidents_total: {
    help: 'Number of the last thing that an operator was asked to look at; some are unused.',
    isCounter: true,
  },
  audit_unchained_age_seconds: { help: 'Since the oldest entry waits for its place in the audit log.' },
  quote_age_seconds: { help: 'Since anything of an open market was quoted.', label: 'calendar' },
  clock_skew_seconds: { help: "By how much the database's clock is ahead of this machine's." },
  worker_silence_seconds: { help: 'Since any worker was at work; 0: one is.' },
  switch_on: { help: 'Whether the operator has closed the platform, or openings.', label: 'switch' },
}

const measureFamilies = (rows: readonly Measure[]): Family[] =>
  Object.entries(measured).map(([name, { help, label, isCounter }]) => {
    const samples = rows.flatMap(({ name: of, kind, value }): Sample[] => {
      if (of !== name || value === null) return []
      return [{ value, ...(label !== undefined && kind !== null && { labels: { [label]: kind } }) }]
    })
    return { name, type: isCounter ? 'counter' : 'gauge', help, samples }
  })

const one = (value: number): Sample => ({ value })
const gauge = (name: string, help: string, samples: readonly Sample[]): Family => ({
  name,
  type: 'gauge',
  help,
  samples,
})
const counter = (name: string, help: string, samples: readonly Sample[]): Family => ({
  name,
  type: 'counter',
  help,
  samples,
})
