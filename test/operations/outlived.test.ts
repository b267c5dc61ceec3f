/** Sessions and links of new people go when they have run out. */
import { expect, test } from 'vitest'
import { dayLength, hour } from '../../src/domain/time.ts'
import { sweepOutlived } from '../../src/storage/people/outlived.ts'
import { resultsOf } from '../support/http.ts'
import { buildTown, townStart } from './support/town.ts'

const town = await buildTown()
const { db } = town.platform

async function add(Email: string): Promise<number> {
  const name = { FirstName: 'Ann', LastName: 'Lee', ScreenName: 'annie', Email }
  const place = { Language: 'eng', CountryCode: 'US', DivisionCode: 'US-NY' }
  const params = { ...name, ...place, Password: 'a long sentence of hers' }
  const { key } = town.people.westAdmin
  const answer = await town.ask('AddProfile', params, { key, host: 'Geo' })
  return resultsOf<{ PersonId: number }>(answer)[0]?.PersonId ?? 0
}

const peopleIn = async (table: 'session' | 'link'): Promise<number[]> => {
  const rows =
    table === 'session'
      ? await db.read.rows<{ id: number }>`select person_id as id from dashboard_session order by id`
      : await db.read.rows<{ id: number }>`select person_id as id from email_confirmation order by id`
  return rows.map(({ id }) => id)
}

test('unused ones of people who were added go in their time, a used link stays', async () => {
  const [used, unused] = [await add('used@example.com'), await add('unused@example.com')]
  await db.write
    .run`update email_confirmation set confirmed_at = created_at where person_id = ${used}::bigint`
  const after = async (ms: number) => {
    await town.door('/clock', { now: new Date(Date.parse(townStart) + ms).toISOString() })
    return [await peopleIn('session'), await peopleIn('link')]
  }
  expect(await after(12 * hour - 1)).toEqual([
    [used, unused],
    [used, unused],
  ])
  expect(await after(12 * hour)).toEqual([[], [used, unused]])
  expect(await after(7 * dayLength - 1)).toEqual([[], [used, unused]])
  expect(await after(7 * dayLength)).toEqual([[], [used]])
})

test('a part of each kind at a time', async () => {
  await town.door('/clock', { now: new Date(Date.parse(townStart) + 8 * dayLength).toISOString() })
  await add('one@example.com')
  await add('two@example.com')
  const later = Date.parse(townStart) + 16 * dayLength
  expect(await sweepOutlived(db.write, later, 1)).toBe(2)
  expect(await sweepOutlived(db.write, later, 1)).toBe(2)
  expect(await sweepOutlived(db.write, later, 1)).toBe(0)
})
