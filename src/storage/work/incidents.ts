/** What an operator has to look at: raised once each by whoever sees it, and ended by an operator's word alone. */
import type { Instant } from '../../domain/time.ts'
import type { Sql } from '../database/sql.ts'
import { instant } from '../database/wire.ts'

/** All that is raised, here or in SQL: the runbook, or the page of a broker, says what each asks of an operator. */
export const incidentKinds = [
  'AccountNotTold',
  'disputeLost',
  'disputeWon',
  'ExecutionBusted',
  'ExternalExecution',
  'exitLost',
  'exitsReopened',
  'feeNotCollected',
  'feeTooLarge',
  'FixLoggedOut',
  'FixMessagesLost',
  'FixMessagesMissing',
  'FixSequenceBroken',
  'FixSessionRestarted',
  'ForeignAccount',
  'ForeignReport',
  'indexDamaged',
  'InferredFill',
  'LateFill',
  'MalformedAnswer',
  'MalformedReport',
  'MalformedSnapshot',
  'MissingExecutions',
  'NoExchangeRate',
  'OrderAbsent',
  'OrderAnomaly',
  'OrderStillWorking',
  'Overfill',
  'paidAfterTheEnd',
  'paidAfterWaiver',
  'paidOtherwise',
  'paidTooLate',
  'paidTwice',
  'paymentDisputed',
  'paymentRefunded',
  'PositionMismatch',
  'priceNotCollected',
  'SplitMissed',
  'UnknownOrder',
] as const

export type IncidentKind = (typeof incidentKinds)[number]

/** Something that an operator must look at; the key says when two are the same. */
export interface NewIncident {
  readonly key: string
  readonly kind: IncidentKind
  readonly detail: Record<string, unknown>
  readonly occurredAt: Instant
}

/** Raises incidents; one that was raised before, ended or not, is not raised again. */
export async function insertIncidents(sql: Sql, incidents: readonly NewIncident[]): Promise<void> {
  if (incidents.length === 0) return
  await sql.run`
    insert into incident (incident_key, kind, detail, occurred_at)
    select * from unnest(${incidents.map(({ key }) => key)}::text[], ${incidents.map(({ kind }) => kind)}::text[],
      ${incidents.map(({ detail }) => JSON.stringify(detail))}::jsonb[],
      ${incidents.map(({ occurredAt }) => instant(occurredAt))}::timestamptz[])
    on conflict (incident_key) do nothing`
}

export interface Incident {
  readonly id: number
  readonly kind: string
  readonly detail: Record<string, unknown>
  readonly occurredAt: Instant
  /** Null while nobody has ended it. */
  readonly endedAt: Instant | null
}

/** The latest, the newest first; without `withEnded` those that nobody has ended. */
export const listIncidents = (
  sql: Sql,
  { limit, withEnded }: { limit: number; withEnded: boolean },
): Promise<Incident[]> =>
  sql.rows<Incident>`
    select id, kind, detail, occurred_at as "occurredAt", ended_at as "endedAt" from incident
    where ended_at is null or ${withEnded}::boolean order by id desc limit ${limit}`

/** How many nobody has ended. */
export const countIncidents = async (sql: Sql): Promise<number> =>
  (await sql.one<{ count: number }>`select count(*)::int as count from incident where ended_at is null`).count

/** Ends one, or it and all before it; answers the ids of those that had not been ended. */
export const endIncidents = async (
  sql: Sql,
  { id, andBefore, now }: { id: number; andBefore: boolean; now: Instant },
): Promise<number[]> => {
  const ended = await sql.rows<{ id: number }>`
    update incident set ended_at = ${instant(now)}::timestamptz
    where ended_at is null and (id = ${id}::bigint or ${andBefore}::boolean and id < ${id}::bigint) returning id`
  return ended.map((one) => one.id).sort((one, other) => one - other)
}
