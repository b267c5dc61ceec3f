/** What can be wrong around the platform and is not seen from inside a request. */
import { ruledLastDay } from '../domain/market/derive-instrument.ts'
import { type Instant, minute, readableInstant } from '../domain/time.ts'
import { listUnpaidStocks, type UnpaidStock } from '../storage/actions/delistings.ts'
import { listSilentBrokers } from '../storage/brokers/reconciliation.ts'
import type { Database } from '../storage/database/database.ts'
import { listTradedFutures, type TradedFuture } from '../storage/market/instruments.ts'
import { type CurrencyPair, listUnratedHoldings, symbolOf } from '../storage/market/missing-rates.ts'
import { countDamagedPages } from '../storage/operating/damage.ts'
import { takeMeasures } from '../storage/operating/measures.ts'
import { listForeignSecrets, type SecretMarks } from '../storage/operating/secret-marks.ts'
import { bookCurrency } from '../storage/orders/order-books.ts'
import { countIncidents } from '../storage/work/incidents.ts'
import { sinceAnyWorker } from '../storage/work/leases.ts'
import { type Config, ConfigError } from './config.ts'
import { roomMin } from './readiness.ts'
import { hasItsOwn, marksOf } from './secrets.ts'
import { firstOf } from './tool.ts'

export interface Finding {
  name: string
  ok: boolean
  says: string
}

/** Clocks of program and database may differ by this much, in milliseconds. */
const skewMaxMs = 1_000
/** Work that waits for this long is not done, in seconds. */
const waitMax = 30
/** The same of a message, which is tried again by itself, in seconds. */
const mailWaitMax = 300
/** Brokers are asked every minute; one that has said nothing for so long does not answer, in milliseconds. */
const silenceMax = 5 * minute

/** Of many alike, so many are named. */
const shownMax = 10

/**
 * Looks at server, disk, clocks, workers, brokers, switches, exchange rates, delistings, futures, mail, webhooks and
 * incidents; `now` is this machine's time in epoch milliseconds, `room` the part of the data folder's disk that is left;
 * undefined: there is no such folder.
 */
export async function examine(db: Database, now: number, room?: number): Promise<Finding[]> {
  const facts = await db.read.one<{ version: string; checksums: string; clock: number }>`
    select current_setting('server_version') as version, current_setting('data_checksums') as checksums,
      clock_timestamp() as clock`
  const damaged = await countDamagedPages(db.read)
  const incidents = await countIncidents(db.read)
  const measures = await takeMeasures(db.read, now)
  const measureOf = (wanted: string, job?: string): number =>
    measures.find(({ name, kind }) => name === wanted && (job === undefined || kind === job))?.value ?? 0
  const [mirror, send] = [measureOf('job_age_seconds', 'mirror'), measureOf('job_age_seconds', 'send')]
  const isOn = (name: string): boolean =>
    measures.some((one) => one.name === 'switch_on' && one.kind === name && one.value === 1)
  const worker = await sinceAnyWorker(db.read)
  const silent = await listSilentBrokers(db.read, now - silenceMax)
  const unrated = await listUnratedHoldings(db.read, bookCurrency)
  const unpaid = await listUnpaidStocks(db.read)
  const futures = await listTradedFutures(db.read)
  const skewMs = Math.abs(facts.clock - now)
  return [
    { name: 'database', ok: true, says: `PostgreSQL ${facts.version}` },
    { name: 'checksums', ok: damaged === 0, says: pagesOf(facts.checksums === 'on', damaged) },
    ...(room === undefined ? [] : [diskOf(room)]),
    { name: 'clock', ok: skewMs <= skewMaxMs, says: `differs from the database's by ${skewMs} ms` },
    // A platform at rest, between a restore and its start, needs none.
    { name: 'worker', ok: worker === 0 || Math.max(mirror, send) <= waitMax, says: lastSeen(worker) },
    { name: 'mirroring', ok: mirror <= waitMax, says: waiting('signal', mirror) },
    { name: 'sending', ok: send <= waitMax, says: waiting('account order', send) },
    // Without a worker nobody asks them.
    {
      name: 'brokers',
      ok: worker !== 0 || silent.length === 0,
      says: worker === 0 ? silenceOf(silent) : 'nobody asks them',
    },
    // Whoever turned one meant it; whoever looks for a cause has to know.
    { name: 'switches', ok: true, says: switchesOf(isOn('maintenance'), isOn('noOpeningOrders')) },
    { name: 'rates', ok: unrated.length === 0, says: ratesOf(unrated) },
    // What is paid may be known after months only.
    { name: 'delistings', ok: true, says: unpaidOf(unpaid) },
    // Whoever entered another day may know better than the rule.
    { name: 'futures', ok: true, says: daysOf(futures) },
    ...told(now, measureOf('mail_age_seconds'), measureOf('webhooks_given_up')),
    { name: 'incidents', ok: incidents === 0, says: `${incidents} to look at (incidents list)` },
  ]
}

/**
 * Whether the secrets are those of the database. A folder beside a database elsewhere may have its own. Some that cannot
 * be read are a finding beside the others.
 */
export async function examineSecrets(config: Config, db: Database): Promise<Finding> {
  const marks = marksIfRead(config)
  if (marks instanceof ConfigError) return { name: 'secrets', ok: false, says: marks.message }
  const foreign = await listForeignSecrets(db.read, marks)
  const says =
    foreign.length === 0
      ? 'those that the database was used with'
      : `not what the database was used with: ${foreign.join(', ')}`
  return { name: 'secrets', ok: foreign.length === 0 || hasItsOwn(config), says }
}

function marksIfRead(config: Config): SecretMarks | ConfigError {
  try {
    return marksOf(config)
  } catch (error) {
    if (error instanceof ConfigError) return error
    throw error
  }
}

/** Our own server does not start without checksums; another one is its operator's choice. */
function pagesOf(areChecked: boolean, damaged: number): string {
  if (!areChecked) return 'off: damaged pages are not noticed'
  return damaged === 0 ? 'on' : `${damaged} times a page that was read was not what had been written`
}

const diskOf = (room: number): Finding => ({
  name: 'disk',
  ok: room > roomMin,
  says: `${Math.floor(room * 100)} % of the disk of the data folder is left`,
})

function ratesOf(unrated: readonly CurrencyPair[]): string {
  if (unrated.length === 0) return 'nothing is held whose currency has no rate'
  const named = unrated.map((pair) => `${pair.currency} in ${pair.account} (quote ${symbolOf(pair)})`)
  return `held and counted one to one until it is quoted: ${named.join(', ')}`
}

function switchesOf(isMaintained: boolean, isClosed: boolean): string {
  const on = [
    ...(isMaintained ? ['maintenance is on: every call answers 503'] : []),
    ...(isClosed ? ['openings are off: no account opens anything'] : []),
  ]
  return on.length === 0 ? 'none is on' : on.join('; ')
}

function unpaidOf(unpaid: readonly UnpaidStock[]): string {
  if (unpaid.length === 0) return 'nothing is held that waits for what is paid for it'
  const named = unpaid.map(({ symbol, lastTradingDay }) => `${symbol} of ${lastTradingDay}`)
  return `held and not paid until its settlement value is entered: ${named.join(', ')}`
}

/** Contracts keep the day that was theirs when they were entered, also when a rule was wrong then. */
function daysOf(futures: readonly TradedFuture[]): string {
  const others = futures.flatMap(({ symbol, lastTradingDay, ...contract }) => {
    const ruled = ruledLastDay(contract)
    return ruled === null || ruled === lastTradingDay
      ? []
      : [`${symbol} on ${lastTradingDay ?? 'no day'} instead of ${ruled}`]
  })
  if (others.length === 0) return 'all end on the days of their rules'
  return `end on other days than their rules say: ${firstOf(others, shownMax)}`
}

/** What people and sites are told. One address that takes no mail is no fault of the platform's, and is tried for ever. */
const told = (now: Instant, mailSeconds: number, givenUp: number): Finding[] => [
  {
    name: 'mail',
    ok: true,
    says:
      mailSeconds > mailWaitMax
        ? `a message of ${readableInstant(now - mailSeconds * 1000)} is not sent yet, the worker's log says why`
        : 'nothing waits for longer than 5 minutes',
  },
  {
    name: 'webhooks',
    ok: givenUp === 0,
    says: givenUp === 0 ? 'none is given up' : `not tried any more: ${givenUp} (webhooks list says whose)`,
  },
]

function lastSeen(seconds: number | null): string {
  if (seconds === null) return 'there never was one'
  return seconds === 0 ? 'at work' : `the last was at work ${Math.ceil(seconds)} s ago`
}

function silenceOf(silent: Awaited<ReturnType<typeof listSilentBrokers>>): string {
  if (silent.length === 0) return 'all have said what their accounts hold within 5 minutes'
  const named = silent.map(({ name, answeredAt }) =>
    answeredAt === null ? `${name} never did` : `${name} last did on ${readableInstant(answeredAt)}`,
  )
  return `not all say what their accounts hold, the worker's log says why: ${named.join(', ')}`
}

const waiting = (what: string, seconds: number): string =>
  seconds > waitMax
    ? `the oldest ${what} that is due waits for ${Math.ceil(seconds)} s`
    : 'nothing waits for longer than 30 s'
