/** Mail into a folder, and over SMTP to a real server on this machine. */
import { mkdtempSync, readdirSync, readFileSync, rmSync, statSync } from 'node:fs'
import type { AddressInfo } from 'node:net'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { SMTPServer } from 'smtp-server'
import { afterEach, describe, expect, test } from 'vitest'
import { answerMs, createFolderMailer, createSmtpMailer, type Message } from '../../src/services/mail.ts'
import { mailClaimSeconds } from '../../src/storage/people/mail.ts'

const message: Message = {
  name: 'confirm-email-7',
  to: 'ann@example.com',
  subject: 'Grüße',
  text: 'Hello Ann,\n\nhttps://example.com/confirm-email/abc\n',
  html: '<p>Hello Ann</p>',
}
const from = 'Lockstep <mail@lockstep.example>'
const ends: (() => void)[] = []
afterEach(() => {
  for (const end of ends.splice(0)) end()
})

describe('a folder of messages', () => {
  const folder = (): string => {
    const made = mkdtempSync(join(tmpdir(), 'mail-'))
    ends.push(() => rmSync(made, { recursive: true }))
    return join(made, 'mail')
  }

  test('holds one readable file for each, however often it is sent', async () => {
    const path = folder()
    const mailer = createFolderMailer(path, from)
    await mailer.send(message)
    await mailer.send(message)
    expect(readdirSync(path)).toEqual(['confirm-email-7.eml'])
    const file = join(path, 'confirm-email-7.eml')
    expect(statSync(file).mode & 0o777).toBe(0o600)
    const text = readFileSync(file, 'utf8')
    expect(text).toContain('To: ann@example.com')
    expect(text).toContain('Message-ID: <confirm-email-7@lockstep.example>')
    expect(text).toContain('https://example.com/confirm-email/abc')
  })

  test('has one reader for an address that looks like more', async () => {
    const path = folder()
    await createFolderMailer(path, from).send({ ...message, to: 'ann@example.com,eve@example.com' })
    const text = readFileSync(join(path, 'confirm-email-7.eml'), 'utf8')
    const [to = ''] = /^To: .*$/m.exec(text) ?? []
    expect(to).not.toMatch(/, ?eve@example\.com$/)
  })
})

describe('over SMTP', () => {
  interface Post {
    to: string[]
    text: string
  }
  /** It offers no TLS, or somebody on the way left that out. */
  async function server(accepts: boolean): Promise<{ url: string; posts: Post[] }> {
    const posts: Post[] = []
    const smtp = new SMTPServer({
      authOptional: true,
      disabledCommands: ['STARTTLS'],
      allowInsecureAuth: true,
      onAuth: ({ username }, _session, done) => done(null, { user: username }),
      onData: (stream, { envelope }, done) => {
        const chunks: Buffer[] = []
        stream.on('data', (chunk: Buffer) => chunks.push(chunk))
        stream.on('end', () => {
          posts.push({
            to: envelope.rcptTo.map(({ address }) => address),
            text: Buffer.concat(chunks).toString(),
          })
          done(accepts ? null : new Error('no room'))
        })
      },
    })
    await new Promise<void>((resolve) => smtp.listen(0, '127.0.0.1', resolve))
    ends.push(() => smtp.close())
    return { url: `smtp://127.0.0.1:${(smtp.server.address() as AddressInfo).port}`, posts }
  }

  test('a message arrives', async () => {
    const { url, posts } = await server(true)
    const mailer = createSmtpMailer(url, from)
    ends.push(mailer.close)
    await mailer.send(message)
    expect(posts).toHaveLength(1)
    expect(posts[0]?.to).toEqual(['ann@example.com'])
    expect(posts[0]?.text).toContain('confirm-email/abc')
  })

  test('a message stays claimed for as long as each answer to it is waited for: it would be delivered twice', () => {
    const answers = [
      'EHLO',
      'STARTTLS',
      'EHLO',
      'AUTH',
      'name',
      'password',
      'MAIL',
      'RCPT',
      'DATA',
      'message',
    ]
    expect(mailClaimSeconds * 1_000).toBeGreaterThan(answers.length * answerMs)
  })

  test('neither a password nor a message goes where no TLS is, unless the address says so', async () => {
    const { url, posts } = await server(true)
    const entrusted = url.replace('//', '//ann:secret@')
    const mailer = createSmtpMailer(entrusted, from)
    ends.push(mailer.close)
    await expect(mailer.send(message)).rejects.toMatchObject({ code: 'ETLS' })
    expect(posts).toEqual([])
    const careless = createSmtpMailer(`${entrusted}?requireTLS=false`, from)
    ends.push(careless.close)
    await careless.send(message)
    expect(posts).toHaveLength(1)
  })

  test('a server that refuses, and none at all', async () => {
    const { url } = await server(false)
    await expect(createSmtpMailer(url, from).send(message)).rejects.toThrow('no room')
    await expect(createSmtpMailer('smtp://127.0.0.1:9', from).send(message)).rejects.toThrow()
  })
})
