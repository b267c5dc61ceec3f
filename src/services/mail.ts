/**
 * Mail behind one function: over SMTP, or into a folder where every message is a file that mail programs open.
 * A message has its number in its name, so that one that is sent twice is recognized.
 */
import { mkdir, rename, writeFile } from 'node:fs/promises'
import { join } from 'node:path'
import { createTransport } from 'nodemailer'

export interface Message {
  /** Names it for good, of letters, digits and hyphens. */
  readonly name: string
  readonly to: string
  readonly subject: string
  readonly text: string
  readonly html: string
}

export interface Mailer {
  /** Resolves when the message was handed over. Rejects when it was not. */
  send(message: Message): Promise<void>
  close(): void
}

const connectMs = 10_000
/**
 * A server looks through a message before it answers for it. Who does not wait has it delivered, and sends it again
 * and again.
 */
export const answerMs = 120_000

const envelope = (from: string, { name, to, subject, text, html }: Message) => ({
  from,
  // An object, so that no character of the address can name a second reader.
  to: { name: '', address: to },
  subject,
  text,
  html,
  messageId: `<${name}@${from.replace(/^.*@|>.*$/g, '') || 'localhost'}>`,
  // Nothing of a message is read from files or addresses.
  disableFileAccess: true,
  disableUrlAccess: true,
})

/**
 * Sends to an SMTP server: `smtp://user:password@host:587`, or `smtps://` with TLS from the start. Who is given a
 * password is spoken to over TLS alone: anybody on the way could leave out that the server offers it. An address that
 * ends in `?requireTLS=false` does without.
 */
export function createSmtpMailer(url: string, from: string): Mailer {
  const transport = createTransport({
    url,
    connectionTimeout: connectMs,
    greetingTimeout: connectMs,
    socketTimeout: answerMs,
    requireTLS: new URL(url).username !== '',
  })
  return {
    send: async (message) => {
      await transport.sendMail(envelope(from, message))
    },
    close: () => transport.close(),
  }
}

/** Writes each message into a folder as `NAME.eml`, readable by its owner alone. */
export function createFolderMailer(folder: string, from: string): Mailer {
  const transport = createTransport({ streamTransport: true, buffer: true })
  return {
    send: async (message) => {
      const { message: raw } = await transport.sendMail(envelope(from, message))
      await mkdir(folder, { recursive: true, mode: 0o700 })
      const path = join(folder, `${message.name}.eml`)
      await writeFile(`${path}.draft`, raw as Buffer, { mode: 0o600 })
      await rename(`${path}.draft`, path)
    },
    close: () => transport.close(),
  }
}
