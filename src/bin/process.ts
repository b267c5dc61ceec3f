/** The life of one process: ends once, in order, on the first of a signal, a lost parent or a fatal error. */
import closeWithGrace from 'close-with-grace'
import type { Logger } from 'pino'

/** Longest a clean end may take before the process is ended anyway, in milliseconds. */
const endWithinMs = 20_000

/** Runs `close` when the process is told to end. A second signal ends it at once. */
export function endsWith(log: Logger, close: () => Promise<void>): void {
  const grace = closeWithGrace(
    { delay: endWithinMs, logger: { error: (text) => log.error(text) } },
    async ({ err }) => {
      if (err) log.fatal({ err }, 'the process ends after an error')
      await close()
    },
  )
  // A child whose parent is gone has nobody left to stop it.
  process.once('disconnect', () => grace.close())
}

/** Tells the parent, if there is one, that this process does its work now. */
export const announceReady = (word: string): void => {
  process.send?.(word)
}
