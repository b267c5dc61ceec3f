/** Mail on its way: none is claimed before its turn, and what waits gives nobody its link. */
import { beforeEach, expect, test, vi } from 'vitest'
import type { WorkContext } from '../../src/execution/context.ts'
import { mailStep } from '../../src/execution/mail.ts'
import type { Message } from '../../src/services/mail.ts'
import { claimMail, insertMail } from '../../src/storage/people/mail.ts'
import { silentLog } from '../support/database-server.ts'
import { call, doorOf } from '../support/http.ts'
import { testPlatform } from '../support/platform.ts'

const { db, url, mails } = await testPlatform()
const door = doorOf(url)
const now = Date.parse('2024-03-12T14:00:00Z')
const ctx = { db, clock: { now: () => now }, log: silentLog } as unknown as WorkContext
const claimed = async (): Promise<number> =>
  (await db.read.one<{ count: number }>`select count(claimed_until)::int as count from mail`).count

const write = async (...names: string[]): Promise<void> => {
  for (const name of names) {
    const facts = { firstName: name, siteName: 'West', seed: 'abc' }
    await insertMail(db.write, { kind: 'confirm-email', address: `${name}@example.com`, facts }, now)
  }
}

beforeEach(() => door('/reset', { now: '2024-03-12T14:00:00Z' }))

test('a message that waits behind a slow one is left to other workers', async () => {
  await write('Ann', 'Bob', 'Cyd')
  const sent: [string, number][] = []
  const mailer = {
    send: async ({ to }: Message) => void sent.push([to, await claimed()]),
    close: () => undefined,
  }
  const step = mailStep({ mailer, publicUrl: () => 'https://x.example', tokenOf: (seed) => seed })
  expect(await step.run(ctx)).toBe(3)
  expect(sent).toEqual([
    ['Ann@example.com', 1],
    ['Bob@example.com', 1],
    ['Cyd@example.com', 1],
  ])
  expect(await step.run(ctx)).toBe(0)
})

test.each([
  [{ code: 'EENVELOPE', responseCode: 550 }, 'EENVELOPE 550'],
  [{ code: 'ESOCKET' }, 'ESOCKET'],
  [{ code: 'ESOCKET', originalCode: 'CERT_HAS_EXPIRED' }, 'ESOCKET CERT_HAS_EXPIRED'],
  [{}, 'Error'],
])('the log says why a message was not taken, without its address: %o', async (facts, reason) => {
  await write('Ann')
  const warn = vi.fn()
  const mailer = {
    send: async ({ to }: Message) => {
      throw Object.assign(new Error(`no such user: ${to}`), facts)
    },
    close: () => undefined,
  }
  const step = mailStep({ mailer, publicUrl: () => 'https://x.example', tokenOf: (seed) => seed })
  await step.run({ ...ctx, log: { ...silentLog, warn } } as unknown as WorkContext)
  expect(warn).toHaveBeenCalledExactlyOnceWith(
    { mail: expect.any(Number), kind: 'confirm-email', attempts: 1, reason },
    'a message could not be sent',
  )
})

test('a worker that is told to end waits a while for a server that does not answer, and hands over nothing else', async () => {
  await write('Ann', 'Bob')
  const ending = new AbortController()
  const send = vi.fn(() => {
    ending.abort()
    return new Promise<never>(() => undefined)
  })
  const step = mailStep({
    mailer: { send, close: () => undefined },
    publicUrl: () => 'https://x.example',
    tokenOf: (seed) => seed,
  })
  await step.run({ ...ctx, ending: ending.signal })
  expect(send).toHaveBeenCalledTimes(1)
  // It may have been taken: it goes out again when its claim has run out, not before.
  const waiting = await db.read.rows<{ attempts: number; claimed: boolean }>`
    select attempts, claimed_until > clock_timestamp() + interval '1 minute' as claimed from mail order by id`
  expect(waiting).toEqual([
    { attempts: 0, claimed: true },
    { attempts: 0, claimed: null },
  ])
})

test('one message is claimed also where the database last saw an almost empty table', async () => {
  await write('Ann')
  await db.write.run`analyze mail`
  await write('Bob')
  const first = await claimMail(db.write, now)
  expect([first?.address, await claimed()]).toEqual(['Ann@example.com', 1])
})

test('who reads what waits to be sent cannot confirm an address', async () => {
  await door('/sites', [{ kind: 'whitelabel', name: 'west', domain: 'west.example' }])
  const adam = { firstName: 'Adam', email: 'adam@example.org', role: 'whitelabel_admin', site: 'west' }
  const [admin] = await door<{ key: string }[]>('/people', [adam])
  // What was sent stays in the queue as well.
  await db.write.run`create rule stays as on delete to mail do instead nothing`
  const profile = {
    FirstName: 'Ann',
    LastName: 'Lee',
    ScreenName: 'annie',
    Email: 'ann@example.com',
    Language: 'eng',
    Password: 'a long sentence of hers',
    CountryCode: 'US',
    DivisionCode: 'US-NY',
  }
  const options = { body: profile, ...(admin && { key: admin.key }) }
  expect((await call(url, '/wl/General/AddProfile', options)).status).toBe(200)
  await db.write.run`drop rule stays on mail`
  const [, token = ''] = /confirm-email\/([\w-]+)/.exec(mails.at(-1)?.text ?? '') ?? []
  expect(token).toHaveLength(43)
  const [waiting] = await db.read.rows<{ facts: object }>`select facts from mail`
  expect(JSON.stringify(waiting?.facts)).not.toContain(token)
  expect((await call(url, `/confirm-email/${token}`)).status).toBe(200)
})
