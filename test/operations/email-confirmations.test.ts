/** The link in a message to a new person: it shows a page, and the page's button confirms the address. */
import { expect, test } from 'vitest'
import { call, resultsOf } from '../support/http.ts'
import { buildTown } from './support/town.ts'

const town = await buildTown()
const { url, mails, db } = town.platform
const adminKey = town.people.westAdmin.key

const ann = {
  ScreenName: 'annie',
  LastName: 'Lee',
  Password: 'a long sentence of hers',
  Language: 'eng',
  CountryCode: 'US',
  DivisionCode: 'US-NY',
}

/** Presses the button of the page that a link shows. */
const press = ({ pathname }: URL): Promise<Response> =>
  fetch(new URL(pathname, url), { method: 'POST', body: new URLSearchParams() })

/** What a link is answered with when it is opened, and when its button is pressed. */
const statuses = async (link: URL) => [(await call(url, link.pathname)).status, (await press(link)).status]

/** Adds a person; answers her id, and the link and the message that she got. */
async function invite(FirstName: string, Email: string) {
  const answer = await town.ask('AddProfile', { ...ann, FirstName, Email }, { key: adminKey, host: 'Geo' })
  const mail = mails.find(({ to }) => to === Email)
  const link = new URL(/http\S+/.exec(mail?.text ?? '')?.[0] ?? '')
  return { id: resultsOf<{ PersonId: number }>(answer)[0]?.PersonId ?? 0, link, mail }
}

const find = async (params: object) =>
  resultsOf<{ Id: number; IsEmailValidated: boolean }>(
    await town.ask('SearchProfiles', params, { key: adminKey, host: 'Geo' }),
  )

const isValidated = async (PersonId: number) => (await find({ PersonId }))[0]?.IsEmailValidated

test('the link shows a page, whose button confirms the address, and confirms it again', async () => {
  const { id, link, mail } = await invite('<b>Ann\r\nBcc: x', 'ann1@example.com')
  expect(mail?.text).toContain('Hello <b>Ann Bcc: x,')
  expect(mail?.html).toContain('Hello &lt;b&gt;Ann Bcc: x,')
  expect(link.origin).toBe(url)
  // As programs do that look at the links in mail.
  const shown = await call(url, link.pathname)
  expect([shown.status, shown.text]).toEqual([200, expect.stringContaining('Yes, confirm it</button>')])
  expect(await isValidated(id)).toBe(false)
  for (const _ of [1, 2]) {
    const page = await press(link)
    expect([page.status, await page.text()]).toEqual([200, expect.stringContaining('is confirmed')])
  }
  expect((await call(url, link.pathname)).status).toBe(200)
  const Email = 'ann1@example.com'
  expect((await find({ Email, IsEmailValidated: true })).map(({ Id }) => Id)).toEqual([id])
  expect(await find({ Email, IsEmailValidated: false })).toEqual([])
  expect(await db.read.rows`select from mail`).toEqual([])
})

test('a link that was used stays good for good', async () => {
  const { id, link } = await invite('Ann', 'ann5@example.com')
  await press(link)
  await db.write.run`update email_confirmation set expires_at = created_at where person_id = ${id}`
  expect(await statuses(link)).toEqual([200, 200])
})

test('a link that is none, or a week old, confirms nothing', async () => {
  const { id, link } = await invite('Ann', 'ann2@example.com')
  expect(await statuses(new URL(`${link}x`))).toEqual([404, 404])
  await db.write.run`update email_confirmation set expires_at = created_at where person_id = ${id}`
  expect(await statuses(link)).toEqual([404, 404])
  expect(await isValidated(id)).toBe(false)
})

test('a link to an address that was given up confirms nothing', async () => {
  const { id, link } = await invite('Ann', 'ann3@example.com')
  await db.write.run`update person set email = 'ann4@example.com' where id = ${id}`
  expect(await statuses(link)).toEqual([404, 404])
  expect(await isValidated(id)).toBe(false)
})
