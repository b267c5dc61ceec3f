/** Connections whose first statements go wrong on the way: something between us and the server bends or cuts them. */
import { beforeEach, expect, test, vi } from 'vitest'
import { openDatabase } from '../../src/storage/database/database.ts'
import { DatabaseUnavailable } from '../../src/storage/database/failure.ts'
import { testDatabase } from '../support/database.ts'
import { silentLog } from '../support/database-server.ts'
import { wayBetween } from '../support/way-between.ts'

const { url, db: aside } = await testDatabase()

/** What is done to the text that goes to the server; nothing answered cuts the connection. */
type Bend = (text: string) => string | undefined
const straight: Bend = (text) => text
const way: { bend: Bend; isDeafAfterwards: boolean } = { bend: straight, isDeafAfterwards: false }

const { url: through, cut } = await wayBetween(url, (near, far) => {
  let isDeaf = false
  near.on('data', (data) => {
    if (isDeaf) return
    const text = data.toString('latin1')
    const bent = way.bend(text)
    isDeaf = way.isDeafAfterwards && bent !== text
    if (bent === undefined) near.destroy()
    else far.write(Buffer.from(bent, 'latin1'))
  })
  near.on('end', () => isDeaf || near.end())
  far.on('data', (data) => near.write(data))
})
beforeEach(() => Object.assign(way, { bend: straight, isDeafAfterwards: false }))

const opened = (warn = vi.fn()) =>
  openDatabase({ url: through, applicationName: 'tests', log: { ...silentLog, warn } })
const misspelled: Bend = (text) => text.replace('begin isolation', 'begln isolation')

test('one that refuses and does not let go then holds up nobody for long', async () => {
  const db = await opened()
  cut()
  await vi.waitUntil(() => db.connections().total === 0)
  Object.assign(way, { bend: misspelled, isDeafAfterwards: true })
  const asked = [db.write.one`select 1 as one`, db.transaction((tx) => tx.one`select 1 as one`)]
  for (const answer of await Promise.allSettled(asked))
    expect(answer).toMatchObject({ status: 'rejected', reason: expect.any(DatabaseUnavailable) })
  await db.close()
})

test('one that is cut before it is ready was none that idled', async () => {
  const warn = vi.fn()
  const db = await opened(warn)
  cut()
  await vi.waitUntil(() => db.connections().total === 0)
  warn.mockClear()
  way.bend = (text) => (misspelled(text) === text ? text : undefined)
  await expect(db.write.one`select 1 as one`).rejects.toThrow(DatabaseUnavailable)
  expect(warn).not.toHaveBeenCalled()
  await db.close()
})

test('a listener whose connection does not hear a channel makes another', async () => {
  const warn = vi.fn()
  const db = await opened(warn)
  way.bend = (text) => {
    if (text.includes('listen "')) way.bend = straight
    return text.replace('listen "', 'lisden "')
  }
  const heard: (string | undefined)[] = []
  await db.listen('work', (payload) => heard.push(payload))
  await vi.waitUntil(() => heard.length > 0, 5_000)
  await aside.write.run`notify work, 'come'`
  await vi.waitUntil(() => heard.includes('come'), 5_000)
  expect(warn.mock.calls.map(([{ error }, said]) => `${said}: ${error}`)).toEqual([
    'not listening: Error: the connection did not hear work',
  ])
  await db.close()
})

test('a database that does not answer at first is waited for, which is said once', async () => {
  const warn = vi.fn()
  // More than are met in the second that a connection is asked for.
  let cuts = 25
  way.bend = (text) => (warn.mock.calls.length === 0 || cuts-- > 0 ? undefined : text)
  const db = await opened(warn)
  expect(warn.mock.calls).toEqual([
    [{ error: expect.any(String) }, 'the database does not answer yet and is waited for'],
  ])
  await db.close()
})
