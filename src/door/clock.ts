/** Business time that stands still until somebody moves it; it never moves back but by a fresh start. */
import type { Instant } from '../domain/time.ts'

export interface DoorClock {
  now(): Instant
  /** Sets the time. Only a reset may go back. */
  set(at: Instant): void
}

/** A clock that stands still until it is set. */
export function createClock(at: Instant): DoorClock {
  let time = at
  return {
    now: () => time,
    set: (next) => {
      time = next
    },
  }
}
