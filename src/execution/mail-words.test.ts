import { expect, test } from 'vitest'
import type { MailRow } from '../storage/people/mail.ts'
import { composeMail } from './mail-words.ts'

const createdAt = Date.parse('2024-02-26T14:05:30Z')
const address = 'ann@example.com'
const facts = { firstName: 'Ann\n\nBuy now', siteName: 'A & B' }
const account = { account: 'U7', brokerName: 'Broker <1>' }

const payment = { offer: 'Trend\nFX', amount: '99.99', currency: 'USD', reason: 'card_declined' }
const againAt = Date.parse('2024-02-27T14:05:00Z')
const untilAt = Date.parse('2024-03-13T14:05:00Z')
const followed = [
  ['suspends', againAt, 'is tried again at 2024-02-27 14:05 UTC. Until then everything goes on.'],
  ['suspended', null, 'is suspended until all that it owes is paid: nothing new is opened by it, and what'],
  ['suspended', againAt, 'Unpaid it ends with its term. The payment is tried again at 2024-02-27 14:05 UTC.'],
  [
    'owed',
    againAt,
    'has ended, and this fee on gains is still owed. The payment is tried again at 2024-02-27',
  ],
  ['owed', null, 'is still owed. The payment is not tried again by itself.'],
  ['nothingOpened', null, 'Nothing was opened, and'],
  ['nothingChanged', null, 'Nothing has changed, and'],
] as const

/** Of a fee that no provider collects. */
const owed: MailRow = {
  id: 4,
  kind: 'payment-failed',
  createdAt,
  attempts: 0,
  address,
  facts: { ...facts, ...payment, effect: 'suspends', againAt: null, untilAt },
}

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
  ...followed.map(([effect, again, says]): (typeof rows)[number] => [
    {
      id: 3,
      kind: 'payment-failed',
      createdAt,
      attempts: 0,
      address,
      facts: { ...facts, ...payment, effect, againAt: again },
    },
    effect === 'suspended'
      ? 'Your subscription to Trend FX is suspended'
      : 'A payment for Trend FX has failed',
    ['A & B has asked for 99.99 USD for Trend FX, and the payment was declined: card_declined.', says],
    ['please tell A &amp; B.'],
  ]),
  [
    owed,
    'A payment for Trend FX has failed',
    [
      'not tried again by itself. Until 2024-03-13 14:05 UTC everything goes on. If it is not paid by then, the subscription is',
      'Please agree with A & B on how it is paid.',
    ],
    [],
  ],
]

test.each(rows)('says what has happened: %j', (row, subject, texts, markup) => {
  const tokenOf = (seed: string) => [...seed].reverse().join('')
  const message = composeMail(row, { publicUrl: () => 'https://x.example', tokenOf })
  expect(message).toMatchObject({ name: `${row.kind}-${row.id}`, to: address, subject })
  for (const part of texts) expect(message.text).toContain(part)
  for (const part of markup) expect(message.html).toContain(part)
})
