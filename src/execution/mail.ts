/**
 * Sends the mail that was written: claims one message after the other, hands it to the mailer, and forgets it. None is
 * claimed while it waits behind a slow one, where its claim could run out. One that cannot be handed over is tried again,
 * later each time; one that was handed over by a worker that died before it could forget it goes out again, under the same
 * name.
 */
import { once } from 'node:events'
import type { Mailer, Message } from '../services/mail.ts'
import {
  claimMail,
  deleteMail,
  isMailDue,
  type MailRow,
  nextMailAt,
  postponeMail,
} from '../storage/people/mail.ts'
import { backoff } from './backoff.ts'
import type { Step, WorkContext } from './context.ts'
import { pause } from './leases.ts'
import { composeMail } from './mail-words.ts'

export interface MailOptions {
  readonly mailer: Mailer
  /** Where people reach the platform, without a slash at the end. */
  readonly publicUrl: () => string
  /** The token of a link, made of its seed. */
  readonly tokenOf: (seed: string) => string
}

const atOnce = 10
const shortestPauseMs = 30_000
const longestPauseMs = 6 * 3_600_000

/** How long a worker that is told to end waits for the server; then it would be ended by force. */
const lastWordMs = 5_000

const pauseAfter = (attempts: number): number => backoff(attempts, shortestPauseMs, longestPauseMs)

/** Messages wait to be sent, or for their next try. */
export const mailStep = (options: MailOptions): Step => ({
  name: 'mail',
  due: isMailDue,
  moments: [nextMailAt],
  run: async (ctx) => {
    let sent = 0
    while (sent < atOnce && !ctx.ending?.aborted) {
      const row = await claimMail(ctx.db.write, ctx.clock.now())
      if (!row) break
      await sendOne(ctx, options, row)
      sent += 1
    }
    return sent
  },
})

async function sendOne(ctx: WorkContext, { mailer, ...links }: MailOptions, row: MailRow): Promise<void> {
  const message: Message = composeMail(row, links)
  try {
    if (!(await isTaken(mailer.send(message), ctx.ending))) return
  } catch (error) {
    ctx.log.warn(
      { mail: row.id, kind: row.kind, attempts: row.attempts + 1, reason: reasonOf(error) },
      'a message could not be sent',
    )
    await postponeMail(ctx.db.write, row.id, ctx.clock.now() + pauseAfter(row.attempts))
    return
  }
  await deleteMail(ctx.db.write, row.id)
}

/**
 * False where the worker ends before the server has answered: the message stays claimed, and goes out again when that
 * has run out.
 */
async function isTaken(sending: Promise<void>, ending: AbortSignal | undefined): Promise<boolean> {
  const answered = new AbortController()
  try {
    return await Promise.race([sending.then(() => true), lastWord(ending, answered.signal).then(() => false)])
  } finally {
    answered.abort()
  }
}

/** A while after the end has begun; never without one. */
async function lastWord(ending: AbortSignal | undefined, answered: AbortSignal): Promise<void> {
  const end = ending ?? new AbortController().signal
  if (!end.aborted) await once(end, 'abort', { signal: answered })
  await pause(lastWordMs, answered)
}

/**
 * Codes of the program, of what broke below it and of the server it spoke to: what they say in words may hold the address,
 * or the message.
 */
function reasonOf(error: unknown): string {
  const { name, code = name, originalCode, responseCode } = error as Error & Partial<MailCodes>
  return [code, originalCode, responseCode].filter((one) => one !== undefined).join(' ')
}

/** A name that is not known, a certificate that is over and a server that is not there are one `code` and three others. */
interface MailCodes {
  readonly code: string
  readonly originalCode: string
  readonly responseCode: number
}
