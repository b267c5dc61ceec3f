/** The words of each kind of message, as plain text and as HTML that says the same. */
import { escaped } from '../domain/html.ts'
import type { Message } from '../services/mail.ts'
import type { MailRow } from '../storage/mail.ts'

/** One line: a name with a line break must not begin a paragraph of its own. */
const line = (text: string): string => text.replace(/\s+/g, ' ').trim()

/** The message of a row, with links to the platform at `publicUrl`. */
export function composeMail({ id, kind, address, facts }: MailRow, publicUrl: string): Message {
  const name = line(facts.firstName)
  const site = line(facts.siteName)
  const link = `${publicUrl}/confirm-email/${facts.token}`
  const subject = `Confirm your e-mail address at ${site}`
  const before = `${site} has a profile with this e-mail address. Please confirm that it is yours:`
  const after = 'The link is good for seven days. If this was not you, nothing needs to be done.'
  return {
    name: `${kind}-${id}`,
    to: address,
    subject,
    text: `Hello ${name},\n\n${before}\n\n${link}\n\n${after}\n`,
    html: `<p>Hello ${escaped(name)},</p><p>${escaped(before)}</p><p><a href="${escaped(link)}">${escaped(
      link,
    )}</a></p><p>${after}</p>`,
  }
}
