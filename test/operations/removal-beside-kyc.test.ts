/** A person is removed while a site deals with his identity, or while he confirms his address: nobody blocks the other, and nothing opens afterwards. */
import { expect, test } from 'vitest'
import { isRefused } from '../../src/operations/context.ts'
import { issueUserToken } from '../../src/operations/user-tokens.ts'
import { confirmEmail, insertConfirmation } from '../../src/storage/people/email-confirmations.ts'
import { lockKyc, replaceInfo } from '../../src/storage/people/kyc.ts'
import { removePerson } from '../../src/storage/people/person-removal.ts'
import { testDatabase } from '../support/database.ts'
import { countingTries, holdLocks, untilWaiting } from '../support/locks.ts'
import { secrets } from '../support/platform.ts'

const { db } = await testDatabase()
const now = Date.parse('2024-03-12T15:00:00Z')
const tokenHash = Buffer.from('token')

async function addPerson(): Promise<number> {
  const { id } = await db.write.one<{ id: number }>`
    insert into person (site_id, role, alias, first_name, last_name, email, created_at)
    select id, 'user', 'p', 'P', 'P', gen_random_uuid()::text || '@example.com', now() from site where kind = 'platform'
    returning id`
  return id
}

test('who is being removed gets no token any more', async () => {
  const personId = await addPerson()
  const letGo = await holdLocks(db, (tx) => removePerson(tx, personId, now))
  const issuing = issueUserToken(db.write, secrets, personId, now)
  await untilWaiting(db.read)
  await letGo()
  expect(isRefused(await issuing)).toBe(true)
  expect(await db.read.rows`select from kyc`).toEqual([])
})

test('what is told of somebody who is being removed is gone with him, and nobody blocks the other', async () => {
  const personId = await addPerson()
  await db.write.run`
    insert into kyc (person_id, token_hash, redirected_times, created_at)
    values (${personId}, ${tokenHash}, 1, now())`
  let tried = 0
  const sealed = { sealedKey: tokenHash, fields: tokenHash, photo1: null, photo2: null }
  let letThemMeet = () => {}
  const met = new Promise<void>((go) => {
    letThemMeet = go
  })
  const telling = db.transaction(async (tx) => {
    tried += 1
    if (!(await lockKyc(tx, tokenHash))) return
    await met
    await replaceInfo(tx, personId, sealed, now)
  })
  await expect.poll(() => tried).toBe(1)
  const removing = db.transaction((tx) => {
    tried += 1
    return removePerson(tx, personId, now)
  })
  await untilWaiting(db.read)
  letThemMeet()
  await Promise.all([telling, removing])
  expect(tried).toBe(2)
  expect(await db.read.rows`select from kyc_info`).toEqual([])
})

test('the link of a mail does not stand in the way of the removal', async () => {
  const personId = await addPerson()
  const { email } = await db.read.one<{ email: string }>`select email from person where id = ${personId}`
  await insertConfirmation(db.write, { personId, email, tokenHash, createdAt: now })
  const letGo = await holdLocks(db, (tx) => tx.run`select from person where id = ${personId} for update`)
  const { count, counting } = countingTries(db)
  const removing = counting.transaction((tx) => removePerson(tx, personId, now))
  await untilWaiting(db.read)
  const confirming = counting.transaction((tx) => confirmEmail(tx, tokenHash, now))
  await untilWaiting(db.read, 2)
  await letGo()
  expect([await removing, await confirming]).toEqual([[], false])
  expect(count).toEqual({ begun: 2, tried: 2 })
})
