/**
 * Looks at something that notifications tell to have changed. One look at a time, so that an earlier answer never replaces
 * a later one; one more for all who ask meanwhile; and one more after a look that failed, since nobody asks twice.
 */
import { setTimeout as pause } from 'node:timers/promises'

export interface Looks {
  /** Sees to it that a look begins after this. */
  ask(): void
  /** No look begins any more. */
  stop(): void
}

/** `failed` is told of every look that failed; the next follows after `pauseMs` milliseconds. */
export function makeLooks(
  look: () => Promise<void>,
  failed: (error: unknown) => void,
  pauseMs = 3_000,
): Looks {
  let isAsked = false
  let isLooking = false
  const ending = new AbortController()
  const hasEnded = (): boolean => ending.signal.aborted
  const again = async (error: unknown): Promise<void> => {
    if (hasEnded()) return
    failed(error)
    isAsked = true
    await pause(pauseMs, undefined, { signal: ending.signal, ref: false }).catch(() => undefined)
  }
  const lookOn = async (): Promise<void> => {
    isLooking = true
    while (isAsked && !hasEnded()) {
      isAsked = false
      await look().catch(again)
    }
    isLooking = false
  }
  return {
    ask: () => {
      isAsked = true
      if (!isLooking) void lookOn()
    },
    stop: () => ending.abort(),
  }
}
