/**
 * Passwords at rest: argon2id with its parameters in the hash and a secret that is not in the database. Hashing
 * costs memory and time on purpose, so only a few run at once and only some may wait.
 */
import { hash, verify } from '@node-rs/argon2'

export interface Passwords {
  /** The text to store; 'Busy' when too many wait already. */
  hash(password: string): Promise<string>
  /** Whether the password is the stored one. With nothing stored it costs the same and is false. */
  verify(stored: string | null, password: string): Promise<boolean>
}

/** Too many hashes wait; nothing was done. */
export class HashingBusy extends Error {
  override name = 'HashingBusy'
}

/** 19 MiB, two passes, one lane: about 50 ms of one core. */
const cost = { memoryCost: 19_456, timeCost: 2, parallelism: 1 }
const runningMax = 2
const waitingMax = 32

/** A hasher with a queue of its own. Its promises reject with HashingBusy. */
export function createPasswords(secret: Buffer): Passwords {
  const options = { ...cost, secret }
  const inTurn = createQueue()
  // What an unknown person's password is held against, so that it takes as long.
  let nobody: Promise<string> | undefined
  return {
    hash: (password) => inTurn(() => hash(password, options)),
    verify: (stored, password) =>
      inTurn(async () => {
        nobody ??= hash('nobody', options)
        const isRight = await verify(stored ?? (await nobody), password, { secret })
        return stored !== null && isRight
      }),
  }
}

/** Lets `runningMax` tasks run at once, in the order in which they came. */
function createQueue(): <T>(task: () => Promise<T>) => Promise<T> {
  const waiting: (() => void)[] = []
  let running = 0
  return async (task) => {
    if (running >= runningMax) {
      if (waiting.length >= waitingMax) throw new HashingBusy('too many passwords wait to be hashed')
      await new Promise<void>((resolve) => waiting.push(resolve))
    } else running += 1
    try {
      return await task()
    } finally {
      // A waiting task takes over the place.
      const next = waiting.shift()
      if (next) next()
      else running -= 1
    }
  }
}
