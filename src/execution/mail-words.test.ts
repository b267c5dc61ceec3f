import { expect, test } from 'vitest'
import type { MailRow } from '../storage/people/mail.ts'
import { composeMail } from './mail-words.ts'

const createdAt = Date.parse('2024-02-26T14:05:30Z')
const address = 'ann@example.com'
const facts = { firstName: 'Ann\n\nBuy now', siteName: 'A & B' }
const account = { account: 'U7', brokerName: 'Broker <1>' }

const rows: readonly [MailRow, string, readonly string[], readonly string[]][] = [
  [
    { id: 1, kind: 'confirm-email', createdAt, attempts: 0, address, facts: { ...facts, seed: 'cba' } },
    'Confirm your e-mail address at A & B',
    [
      'Hello Ann Buy now,\n\nA & B has a profile',
      '\n\nhttps://x.example/confirm-email/abc\n\n',
      'good until 2024-03-04 14:05 UTC.',
    ],
    [
      'A &amp; B has',
      '<a href="https://x.example/confirm-email/abc">https://x.example/confirm-email/abc</a>',
    ],
  ],
  ...(['ExternalExecution', 'PositionMismatch'] as const).map((reason): (typeof rows)[number] => [
    { id: 2, kind: 'autosync-off', createdAt, attempts: 0, address, facts: { ...facts, ...account, reason } },
    'AutoSync is switched off in your account U7',
    [
      'A & B has switched AutoSync off in your account U7 at Broker <1>.',
      reason === 'ExternalExecution' ? 'did not send' : 'other positions',
    ],
    ['U7 at Broker &lt;1&gt;.'],
  ]),
]

test.each(rows)('says what has happened: %j', (row, subject, texts, markup) => {
  const tokenOf = (seed: string) => [...seed].reverse().join('')
  const message = composeMail(row, { publicUrl: () => 'https://x.example', tokenOf })
  expect(message).toMatchObject({ name: `${row.kind}-${row.id}`, to: address, subject })
  for (const part of texts) expect(message.text).toContain(part)
  for (const part of markup) expect(message.html).toContain(part)
})
