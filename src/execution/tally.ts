/** What a worker counts of itself since it began: plain numbers, raised where it happens and read by whoever looks. */
import { LeaseLost } from '../storage/work/leases.ts'

export interface Tally {
  /** Leases that were taken away, or that nobody confirmed in time. */
  leasesLost: number
  /** Writes that were refused because their lease had gone. */
  fenceRefusals: number
  /** Runs of each step that failed. */
  readonly stepFailures: Map<string, number>
  /** When a broker last answered what its accounts hold, by its adapter, in milliseconds of this process. */
  readonly answeredAt: Map<string, number>
  /** Until when whoever fails alone is left out, by work and id, in milliseconds of this process. */
  readonly resting: Map<string, Map<number, number>>
  /** Kept ends of the audit log that its chains do not lead to any more. */
  lostHeads: number
  /** What the last check of the books found, and when, in milliseconds of this process; undefined before the first. */
  books: { readonly violations: number; readonly at: number } | undefined
}

/** Counts from nothing. */
export const newTally = (): Tally => ({
  leasesLost: 0,
  fenceRefusals: 0,
  stepFailures: new Map(),
  answeredAt: new Map(),
  resting: new Map(),
  lostHeads: 0,
  books: undefined,
})

/** Counts a run of a step, or of a part of one, that failed. */
export function countFailure({ stepFailures }: Tally, name: string): void {
  stepFailures.set(name, (stepFailures.get(name) ?? 0) + 1)
}

/** Counts an error that may be the refusal of a write under a lost lease. */
export function countRefusal(tally: Tally, error: unknown): void {
  if (error instanceof LeaseLost) tally.fenceRefusals++
}
