/**
 * Large answers that their readers have not taken yet. Each is memory that only its reader can free, so a reader has
 * time in proportion to the answer, and has to be faster once all that is held together becomes too much.
 */
import type { ServerResponse } from 'node:http'
import type { Socket } from 'node:net'

export interface UntakenLimits {
  /** From so many bytes on an answer is looked after. */
  readonly bytesMin: number
  /** How long any reader may take. */
  readonly patienceMs: number
  /** How fast an answer has to be taken for longer than that. */
  readonly bytesPerMs: number
  /** Held together; beyond it the oldest are cut off, but none that is younger than its grace or taken as fast as this. */
  readonly heldMax: number
  readonly graceMs: number
  readonly crowdedBytesPerMs: number
  readonly lookEveryMs: number
}

export interface Untaken {
  /** An answer that was handed to its connection, of so many bytes. */
  note(response: ServerResponse, bytes: number): void
  /** Bytes that are held at the moment. */
  held(): number
}

interface Answer {
  readonly response: ServerResponse
  readonly bytes: number
  /** When it was handed on; of one that waited behind another on its connection: when its turn came. */
  since: number
}

/**
 * A request may take a minute to arrive, and so may an answer; a slow line gets a megabyte in another one. Connections
 * take smaller answers whole, unless many are asked for in one go, which come to as much.
 */
const platformLimits: UntakenLimits = {
  bytesMin: 4 * 1024,
  patienceMs: 60_000,
  bytesPerMs: 16,
  heldMax: 32 * 1024 * 1024,
  graceMs: 2_000,
  crowdedBytesPerMs: 64,
  lookEveryMs: 1_000,
}

/** What the connection still has to send, as Node's own time-outs read it. */
function leftOf({ response, bytes }: Answer): number {
  const socket: (Socket & { readonly _handle?: { readonly writeQueueSize: number } }) | null = response.socket
  return Math.min(bytes, socket?._handle?.writeQueueSize ?? bytes)
}

/** Looks after answers while there are any. */
export function createUntaken(limits: UntakenLimits = platformLimits): Untaken {
  // In the order in which they were handed on.
  const answers = new Set<Answer>()
  let held = 0
  let timer: NodeJS.Timeout | undefined

  const forget = (answer: Answer): void => {
    if (answers.delete(answer)) held -= answer.bytes
  }
  const cut = (socket: Socket): void => {
    socket.destroy()
    // Those that wait behind another on their connection are not told that this has ended.
    for (const answer of answers) if (answer.response.req.socket === socket) forget(answer)
  }
  const look = (): void => {
    const now = performance.now()
    const sending = new Set([...answers].flatMap(({ response }) => response.socket ?? []))
    for (const answer of answers) {
      const { response, bytes, since } = answer
      const { socket } = response.req
      if (socket.destroyed) forget(answer)
      // Its reader has another one to take first, by which he is judged.
      if (socket.destroyed || (response.socket === null && sending.has(socket))) continue
      const age = now - since
      const isLate = age > limits.patienceMs + bytes / limits.bytesPerMs
      const isSlow = bytes - leftOf(answer) < age * limits.crowdedBytesPerMs
      const isTooMuch = held > limits.heldMax && age > limits.graceMs && isSlow && response.socket !== null
      if (isLate || isTooMuch) cut(socket)
    }
    if (answers.size > 0) return
    clearInterval(timer)
    timer = undefined
  }
  return {
    note: (response, bytes) => {
      // What the connection took whole needs nobody to wait for.
      if (bytes < limits.bytesMin || response.writableFinished || response.socket?.writableLength === 0)
        return
      const answer: Answer = { response, bytes, since: performance.now() }
      answers.add(answer)
      held += bytes
      response.once('close', () => forget(answer))
      response.once('socket', () => {
        answer.since = performance.now()
      })
      timer ??= setInterval(look, limits.lookEveryMs).unref()
    },
    held: () => held,
  }
}
