/** The words of each kind of message, as plain text and as HTML that says the same. */
import { escaped } from '../domain/html.ts'
import type { ExternalReason } from '../domain/positions/external-activity.ts'
import { type Instant, readableInstant } from '../domain/time.ts'
import type { Message } from '../services/mail.ts'
import { confirmationLifeMs } from '../storage/people/email-confirmations.ts'
import type { MailFacts, MailRow } from '../storage/people/mail.ts'

/** One line: a name with a line break must not begin a paragraph of its own. */
const line = (text: string): string => text.replace(/\s+/g, ' ').trim()

/** What a message says: paragraphs, one of which may be a link. */
interface Words {
  readonly subject: string
  readonly paragraphs: readonly string[]
  readonly link?: string
}

/** What links are made with. */
interface Links {
  readonly publicUrl: () => string
  readonly tokenOf: (seed: string) => string
}

/** A message from before there were seeds holds its token. */
type ConfirmEmail = MailFacts['confirm-email'] & { readonly token?: string }

const confirmEmail = ({ siteName, seed, token }: ConfirmEmail, createdAt: Instant, links: Links): Words => {
  const site = line(siteName)
  const link = `${links.publicUrl()}/confirm-email/${token ?? links.tokenOf(seed)}`
  return {
    subject: `Confirm your e-mail address at ${site}`,
    paragraphs: [
      `${site} has a profile with this e-mail address. Please confirm that it is yours:`,
      link,
      // Counted from its writing: a message may wait for days until a server takes it.
      `The link is good until ${readableInstant(createdAt + confirmationLifeMs)}. If this was not you, nothing needs to be done.`,
    ],
    link,
  }
}

const syncReasons: Record<ExternalReason, string> = {
  ExternalExecution: 'An order that the platform did not send was executed there.',
  PositionMismatch: 'The broker reports other positions there than the platform has traded.',
}

const autosyncOff = (facts: MailFacts['autosync-off']): Words => {
  const account = `${line(facts.account)} at ${line(facts.brokerName)}`
  return {
    subject: `AutoSync is switched off in your account ${line(facts.account)}`,
    paragraphs: [
      `${line(facts.siteName)} has switched AutoSync off in your account ${account}.`,
      syncReasons[facts.reason],
      'New signals are still sent to the account, but nothing brings it back in line with your strategies until you ' +
        'switch AutoSync on again. What was traded by others stays as it is.',
    ],
  }
}

const whatFollows = ({ effect, againAt, untilAt = null }: MailFacts['payment-failed']): string => {
  if (effect === 'nothingOpened') return 'Nothing was opened, and the payment is not tried again.'
  if (effect === 'nothingChanged') return 'Nothing has changed, and the payment is not tried again.'
  const again =
    againAt === null
      ? 'The payment is not tried again by itself.'
      : `The payment is tried again at ${readableInstant(againAt)}.`
  if (effect === 'owed') return `The subscription has ended, and this fee on gains is still owed. ${again}`
  const stops = 'nothing new is opened by it, and what is open can still be closed.'
  if (effect === 'suspends' && untilAt !== null)
    return `${again} Until ${readableInstant(untilAt)} everything goes on. If it is not paid by then, the subscription is suspended: ${stops}`
  return effect === 'suspended'
    ? `The subscription is suspended until all that it owes is paid: ${stops} Unpaid it ends with its term. ${again}`
    : `${again} Until then everything goes on. If the later tries fail as well, the subscription is suspended: ${stops}`
}

const paymentFailed = (facts: MailFacts['payment-failed']): Words => {
  const site = line(facts.siteName)
  const offer = line(facts.offer)
  const subject =
    facts.effect === 'suspended'
      ? `Your subscription to ${offer} is suspended`
      : `A payment for ${offer} has failed`
  return {
    subject,
    paragraphs: [
      `${site} has asked for ${facts.amount} ${facts.currency} for ${offer}, and the payment was declined: ${line(facts.reason)}.`,
      whatFollows(facts),
      (facts.untilAt ?? null) === null
        ? `If the way in which you pay has changed, please tell ${site}.`
        : `Please agree with ${site} on how it is paid.`,
    ],
  }
}

function wordsOf(mail: MailRow, links: Links): Words {
  if (mail.kind === 'confirm-email') return confirmEmail(mail.facts, mail.createdAt, links)
  return mail.kind === 'autosync-off' ? autosyncOff(mail.facts) : paymentFailed(mail.facts)
}

const paragraph = (text: string, link: string | undefined): string =>
  text === link ? `<p><a href="${escaped(text)}">${escaped(text)}</a></p>` : `<p>${escaped(text)}</p>`

/** The message of a row. */
export function composeMail(mail: MailRow, links: Links): Message {
  const { subject, paragraphs, link } = wordsOf(mail, links)
  const all = [`Hello ${line(mail.facts.firstName)},`, ...paragraphs]
  return {
    name: `${mail.kind}-${mail.id}`,
    to: mail.address,
    subject,
    text: `${all.join('\n\n')}\n`,
    html: all.map((text) => paragraph(text, link)).join(''),
  }
}
