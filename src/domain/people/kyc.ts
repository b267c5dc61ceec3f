/** Where a person stands in KYC, and how a report of the process moves it. */
import type { Instant } from '../time.ts'

export interface Standing {
  readonly startedAt: Instant | null
  readonly finishedAt: Instant | null
  readonly approvedAt: Instant | null
  readonly score: number | bigint | null
}

/** What is undefined stays as it is. */
export interface StandingReport {
  readonly isFinished?: boolean | undefined
  readonly isApproved?: boolean | undefined
  readonly score?: number | bigint | undefined
}

/** A state that is reported again keeps the moment at which it was first reached; one that is denied loses it. */
const moved = (before: Instant | null, reported: boolean | undefined, now: Instant): Instant | null => {
  if (reported === undefined) return before
  return reported ? (before ?? now) : null
}

/** The standing after a report at `now`. Whoever is reported on has started. */
export const standingAfter = (before: Standing, report: StandingReport, now: Instant): Standing => ({
  startedAt: before.startedAt ?? now,
  finishedAt: moved(before.finishedAt, report.isFinished, now),
  approvedAt: moved(before.approvedAt, report.isApproved, now),
  score: report.score ?? before.score,
})
