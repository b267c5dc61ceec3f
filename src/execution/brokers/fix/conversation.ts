/**
 * One logged-on connection of a FIX session: what arrives is taken in order and once, what is missing is asked for
 * again, and the counterparty's own ResendRequests are answered by a gap fill. An order is never sent again from here:
 * whether one is missing at the broker is asked by client order id, and only the sender of orders sends.
 */
import type { IncidentKind } from '../../../storage/work/incidents.ts'
import { countOf, type FixMessage, isYes, tags, textOf } from './message.ts'
import { type Numbered, placeOf } from './sequence.ts'

/** How a message leaves; answers nothing, `sent` hears the number under which it went out, or undefined. */
export type Transmit = (
  type: string,
  fields: Readonly<Record<string, unknown>>,
  sent?: (seqNum: number | undefined) => void,
) => void

/** What the engine can do for a conversation. */
export interface Engine {
  readonly transmit: Transmit
  /** The number that the next message will have. */
  nextOutbound(): number
  /** Says why and hangs up. */
  hangUp(reason: string): void
}

export interface Listener {
  /** A message of the application, or a Reject, in its place. */
  take(message: FixMessage): void
  /** Logged on; `take` has not necessarily heard everything that was missed. */
  loggedOn(): void
  /** The next number to take has changed without a message to take. */
  moved(): void
  /** Something may have been lost, or the session cannot go on as it is. */
  alarm(kind: FixAlarm, detail: object): void
}

type FixAlarm = Extract<IncidentKind, `Fix${string}`>

const sessionTypes = ['0', '1', '2', '3', '4', '5', 'A']
const patienceMs = 10_000
const asksMax = 3

/**
 * One logged-on conversation: hands messages on in the order of their numbers, once each, and asks for those
 * that are missing.
 */
export class Conversation {
  readonly #engine: Engine
  readonly #listener: Listener
  readonly #parties: { readonly sender: string; readonly target: string }
  #expected: number
  /** The highest number seen: below it everything is there or asked for. */
  #seen = 0
  #isLoggedOn = false
  #asked = { at: Number.NEGATIVE_INFINITY, times: 0 }

  constructor(
    engine: Engine,
    listener: Listener,
    parties: { readonly sender: string; readonly target: string },
    expected: number,
  ) {
    this.#engine = engine
    this.#listener = listener
    this.#parties = parties
    this.#expected = expected
  }

  /** The next number to take: everything below it has been handed on. */
  get expected(): number {
    return this.#expected
  }

  /** Logged on, and nothing that was sent to us is missing. */
  get isReady(): boolean {
    return this.#isLoggedOn && this.#seen < this.#expected
  }

  loggedOn(): void {
    this.#isLoggedOn = true
    this.#listener.loggedOn()
  }

  ended(): void {
    this.#isLoggedOn = false
  }

  /** Takes a message in; answers whether the engine is to act on it. */
  arrived(message: FixMessage): boolean {
    if (!this.#isFromCounterparty(message)) {
      this.#break(message, 'the message is from or for somebody else')
      return false
    }
    const placed = placeOf(this.#expected, numberedOf(message))
    switch (placed.place) {
      case 'take':
        this.#advance(placed.next)
        return this.#act(message)
      case 'gap':
        this.#seen = Math.max(this.#seen, message.seqNum)
        this.#askAgain()
        if (placed.isHeeded) this.#noteLogout(message)
        return placed.isHeeded
      case 'restart':
        if (this.#expected > 1) this.#listener.alarm('FixSessionRestarted', { expected: this.#expected })
        this.#seen = 0
        this.#advance(placed.next)
        this.#listener.moved()
        return true
      case 'lost':
        this.#listener.alarm('FixMessagesLost', { from: this.#expected, to: placed.next - 1 })
        this.#advance(placed.next)
        this.#listener.moved()
        return false
      case 'ignore':
        return false
      case 'broken':
        this.#break(message, `number ${message.seqNum} was taken before, ${this.#expected} is expected`)
        return false
    }
  }

  /** Answers a ResendRequest: what was sent then is not to be acted on any more. `end` 0 stands for everything. */
  resend(begin: number, end: number): void {
    const next = this.#engine.nextOutbound()
    const newSeqNo = end === 0 || end >= next ? next : end + 1
    if (begin < 1 || begin >= newSeqNo) return
    const header = { MsgSeqNum: begin, PossDupFlag: true, SendingTime: new Date() }
    this.#engine.transmit('4', { GapFillFlag: true, NewSeqNo: newSeqNo, StandardHeader: header })
  }

  #advance(next: number): void {
    this.#expected = next
    if (this.#seen < next) this.#asked = { at: Number.NEGATIVE_INFINITY, times: 0 }
    else this.#askAgain()
  }

  #act(message: FixMessage): boolean {
    const { type } = message
    this.#noteLogout(message)
    if (!sessionTypes.includes(type) || type === '3') this.#listener.take(message)
    return sessionTypes.includes(type) && type !== '3' && type !== '4'
  }

  #askAgain(): void {
    if (performance.now() - this.#asked.at < patienceMs) return
    if (this.#asked.times >= asksMax) {
      // At each further log-on the same is asked for: one that cannot be read would keep the session down in silence.
      this.#listener.alarm('FixMessagesMissing', { from: this.#expected })
      this.#engine.hangUp(`messages from ${this.#expected} on were asked for ${asksMax} times`)
      return
    }
    this.#asked = { at: performance.now(), times: this.#asked.times + 1 }
    this.#engine.transmit('2', { BeginSeqNo: this.#expected, EndSeqNo: 0 })
  }

  /** Who has logged out acts on nothing that is sent to him any more. */
  #noteLogout(message: FixMessage): void {
    if (message.type !== '5') return
    this.#isLoggedOn = false
    const text = textOf(message, tags.text)
    if (text !== null) this.#listener.alarm('FixLoggedOut', { text })
  }

  #break(message: FixMessage, reason: string): void {
    this.#listener.alarm('FixSequenceBroken', { type: message.type, seqNum: message.seqNum, reason })
    this.#engine.hangUp(reason)
  }

  #isFromCounterparty(message: FixMessage): boolean {
    const { sender, target } = this.#parties
    return textOf(message, tags.senderCompId) === target && textOf(message, tags.targetCompId) === sender
  }
}

const numberedOf = (message: FixMessage): Numbered => ({
  type: message.type,
  seqNum: message.seqNum,
  isPossDup: isYes(message, tags.possDupFlag),
  isGapFill: isYes(message, tags.gapFillFlag),
  newSeqNo: countOf(message, tags.newSeqNo),
  isReset: isYes(message, tags.resetSeqNumFlag),
})
