/** How a command that failed says why: in words where somebody outside can mend it, with a trace where we have to. */
import { FolderInUse } from '../postgres/lock.ts'
import { failureWords } from '../services/failure-words.ts'
import {
  AddressUnusable,
  DatabaseUnavailable,
  isForbidden,
  isTurnedAway,
} from '../storage/database/failure.ts'
import { ConfigError } from './config.ts'
import { safeLine } from './tool.ts'

/** What to print of the error that ended a command. */
export function faultOf(error: unknown): unknown {
  const says = error instanceof Error ? words(error) : undefined
  return says === undefined ? error : `lockstep: ${says.split('\n').map(safeLine).join('\n')}`
}

function words(error: Error): string | undefined {
  if (error instanceof DatabaseUnavailable)
    return hasGone(error.cause)
      ? `the database went away at work: ${failureWords(error.cause)}; its disk may be full, the log of the server says why`
      : `the database cannot be used: ${failureWords(error.cause) ?? error.message}`
  if (error instanceof AddressUnusable) return error.message
  if (isTurnedAway(error)) return `the database turns us away: ${error.message}`
  if (isForbidden(error)) return `the database does not let us: ${error.message}`
  // Ours and the system's are plain errors, written for people; those of a fault in the program have a class.
  const isOurs = error instanceof ConfigError || error instanceof FolderInUse
  return isOurs || error.constructor === Error ? error.message : undefined
}

/** Whether a connection broke that was there. A server that ends by itself says nothing over it. */
const hasGone = (cause: unknown): boolean =>
  cause instanceof Error && /\b(EPIPE|ECONNRESET)\b|^Connection terminated unexpectedly$/.test(cause.message)
