/** Words about what fails with every call: said at once, and then how often since. */

const saidEveryMs = 60_000

/** Tells the log why, at most once a minute. `now` is a steady clock in milliseconds. */
export function sayingSeldom(
  log: { warn(fields: object, message: string): void },
  message: string,
  now: () => number = () => performance.now(),
): (error: unknown) => void {
  let failures = 0
  let silentUntil = Number.NEGATIVE_INFINITY
  return (error) => {
    failures += 1
    const at = now()
    if (at < silentUntil) return
    log.warn({ error: String(error), failures }, message)
    failures = 0
    silentUntil = at + saidEveryMs
  }
}
