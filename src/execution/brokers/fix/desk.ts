/**
 * Requests that wait for their answers. Each ends once: by what the counterparty said, by the connection that was
 * lost, or by patience that ran out; the last two prove nothing. Answers are heard only after what they report is
 * booked.
 */
import type { FixMessage, FixRequest } from './message.ts'

/** What was heard of a request. */
export type Heard =
  | { readonly message: FixMessage }
  /** It was refused as a message (Reject, BusinessMessageReject). */
  | { readonly refused: string }

export interface Question<T> {
  readonly request: FixRequest
  /** Ids that an answer may name. */
  readonly names: readonly string[]
  /** The answer, once it is complete. */
  hear(heard: Heard): T | undefined
  /** Where nothing went out. */
  readonly unsent: T
  /** Where it went out and no answer came. */
  readonly unknown: T
}

interface Waiting {
  seqNum: number | undefined
  hear(heard: Heard): void
  giveUp(): void
}

/**
 * Requests that wait for their answers; one that is not answered in time, or whose connection ends, is
 * unknown.
 */
export class Desk {
  readonly #send: (request: FixRequest, sent: (seqNum: number | undefined) => void) => void
  readonly #patienceMs: number
  readonly #waiting = new Map<string, Set<Waiting>>()
  readonly #bySeqNum = new Map<number, Waiting>()

  constructor(
    send: (request: FixRequest, sent: (seqNum: number | undefined) => void) => void,
    patienceMs: number,
  ) {
    this.#send = send
    this.#patienceMs = patienceMs
  }

  /** Sends a request and waits for its answer. */
  ask<T>({ request, names, hear, unsent, unknown }: Question<T>): Promise<T> {
    return new Promise((resolve) => {
      let isOver = false
      const end = (answer: T): void => {
        isOver = true
        clearTimeout(timer)
        this.#forget(names, waiting)
        resolve(answer)
      }
      const waiting: Waiting = {
        seqNum: undefined,
        hear: (heard) => {
          const answer = hear(heard)
          if (answer !== undefined) end(answer)
        },
        giveUp: () => end(unknown),
      }
      const timer = setTimeout(waiting.giveUp, this.#patienceMs)
      for (const name of names) this.#waiting.set(name, (this.#waiting.get(name) ?? new Set()).add(waiting))
      this.#send(request, (seqNum) => {
        if (seqNum === undefined) end(unsent)
        if (seqNum === undefined || isOver) return
        waiting.seqNum = seqNum
        this.#bySeqNum.set(seqNum, waiting)
      })
    })
  }

  /** Tells whoever asked under this name; false when nobody did. */
  tell(name: string, heard: Heard): boolean {
    const asked = [...(this.#waiting.get(name) ?? [])]
    for (const waiting of asked) waiting.hear(heard)
    return asked.length > 0
  }

  /** Tells whoever sent the message of this number; false when nobody waits. */
  tellSender(seqNum: number, heard: Heard): boolean {
    const waiting = this.#bySeqNum.get(seqNum)
    waiting?.hear(heard)
    return waiting !== undefined
  }

  /** The connection is gone: no answer will come. */
  giveUp(): void {
    for (const asked of [...this.#waiting.values()]) for (const waiting of [...asked]) waiting.giveUp()
  }

  #forget(names: readonly string[], waiting: Waiting): void {
    for (const name of names) {
      const asked = this.#waiting.get(name)
      asked?.delete(waiting)
      if (asked?.size === 0) this.#waiting.delete(name)
    }
    if (waiting.seqNum !== undefined) this.#bySeqNum.delete(waiting.seqNum)
  }
}
