/** KYC over HTTP: who may, what is kept and how, and that every look leaves a record. */
import { describe, expect, test } from 'vitest'
import type { OperationName } from '../../src/contract/index.ts'
import { identifier } from '../../src/storage/database/sql.ts'
import { resultsOf, told } from '../support/http.ts'
import { type AskOptions, buildTown, type CitizenName } from './support/town.ts'

const town = await buildTown()
const { people, sites } = town
const { db } = town.platform
const { personId } = people.holder

/** One grey pixel. */
const png = 'iVBORw0KGgoAAAANSUhEUgAAAAEAAAABCAAAAAA6fptVAAAACklEQVR4nGNoAAAAggCBd81ytgAAAABJRU5ErkJggg=='

const ask = (
  operation: OperationName,
  params: object,
  citizen: CitizenName,
  host: AskOptions['host'] = 'WL',
) => town.ask(operation, params, { key: people[citizen].key, host })

async function newToken(id = personId): Promise<string> {
  const [issued] = await town.door<{ userToken: string }[]>('/user-tokens', [{ personId: id }])
  return issued?.userToken ?? ''
}

const info = {
  FirstName: 'Hanna',
  LastName: 'Holder-Nobody-Else',
  Email: 'hanna@example.com',
  Phone: '+12125550123',
  Street: '1 Main Street',
  City: 'Albany',
  Province: 'NY',
  PostCode: '12207',
  Country: 'US',
}

describe('where a person stands', () => {
  test('from being sent to KYC to being approved', async () => {
    const nobody = { PersonId: people.neighbour.personId }
    expect(told(await ask('GetKYCScore', nobody, 'westAdmin'))).toEqual([404, '2013 PersonId'])
    const UserToken = await newToken()
    const row = { Id: 1, PersonId: personId, Created: '2024-03-12T14:00:00Z', RedirectedToKYCTimes: 2 }
    expect(resultsOf(await ask('GetKYCScore', { PersonId: personId }, 'westAdmin'))).toEqual([row])
    const update = (change: object) => ask('UpdateKYCScore', { UserToken, ...change }, 'westAdmin')
    const started = { ...row, Started: '2024-03-12T14:00:00Z' }
    const finished = { ...started, Finished: '2024-03-12T14:00:00Z' }
    expect(resultsOf(await update({ IsFinished: true, Score: 80 }))).toEqual([{ ...finished, Score: 80 }])
    expect(resultsOf(await update({ IsApproved: true }))).toEqual([
      { ...finished, Approved: '2024-03-12T14:00:00Z', Score: 80 },
    ])
    expect(resultsOf(await update({ IsApproved: false, Score: 0 }))).toEqual([{ ...finished, Score: 0 }])
  })

  test('a new token counts as another visit and ends the one before', async () => {
    const before = await newToken()
    const after = await newToken()
    expect(told(await ask('UpdateKYCScore', { UserToken: before }, 'westAdmin'))).toEqual([
      403,
      '1002 UserToken',
    ])
    const [row] = resultsOf<{ RedirectedToKYCTimes: number }>(
      await ask('UpdateKYCScore', { UserToken: after }, 'westAdmin'),
    )
    expect(row?.RedirectedToKYCTimes).toBeGreaterThan(2)
    const { stored } = await db.read.one<{
      stored: string
    }>`select to_jsonb(kyc)::text as stored from kyc limit 1`
    expect(stored).not.toContain(after)
  })

  test('each kind of site names people in its own way', async () => {
    const UserToken = await newToken()
    expect((await ask('GetKYCScore', { UserToken }, 'northAdmin', 'Geo')).status).toBe(200)
    const score = (params: object, citizen: CitizenName) => ask('GetKYCScore', params, citizen).then(told)
    expect(await score({ PersonId: personId }, 'northAdmin')).toEqual([400, '1102 UserToken'])
    expect(await score({ UserToken }, 'westAdmin')).toEqual([400, '1102 PersonId'])
    expect(await score({}, 'operator')).toEqual([400, '1128 PersonId'])
    expect(await score({ UserToken, PersonId: people.owner.personId }, 'operator')).toEqual([
      400,
      '1128 PersonId',
    ])
    expect(await score({ UserToken, PersonId: personId }, 'operator')).toEqual([200])
  })
})

describe('what is known of a person', () => {
  test('is shown as it was sent, with both photos', async () => {
    const UserToken = await newToken()
    expect(told(await ask('GetKYCInfo', { UserToken }, 'westAdmin'))).toEqual([404, '2013 UserToken'])
    const sent = {
      ...info,
      PhotoId1: png,
      PhotoId1Title: 'Passport',
      PhotoId2: `data:image/png;base64,${png}`,
    }
    const [score] = resultsOf<{ Started: string }>(
      await ask('AddKYCInfo', { ...sent, UserToken }, 'westAdmin'),
    )
    expect(score?.Started).toBeDefined()
    expect(resultsOf(await ask('GetKYCInfo', { UserToken }, 'northAdmin', 'Geo'))).toEqual([
      {
        Id: 1,
        PersonId: personId,
        ...sent,
        PhotoId2: png,
        IsPhoneVerified: false,
        WhiteLabelSiteId: sites.west,
        GeoSite: 'north',
        SiteURL: 'https://west.example',
      },
    ])
  })

  test('takes the photo that it shows whom sends none as one that fits', async () => {
    const UserToken = await newToken()
    const refused = await ask('AddKYCInfo', { ...info, PhotoId1: '', UserToken }, 'westAdmin')
    const PhotoId1 = /one that fits: ([\w+/=]+)/.exec(refused.text)?.[1]
    expect(told(await ask('AddKYCInfo', { ...info, PhotoId1, UserToken }, 'westAdmin'))).toEqual([200])
    const [shown] = resultsOf<object>(await ask('GetKYCInfo', { UserToken }, 'westAdmin'))
    expect(shown).toMatchObject({ PhotoId1 })
  })

  test('says nothing of what was sent empty', async () => {
    const UserToken = await newToken()
    const blanks = { PhotoId1Title: '', PhotoId2Title: '' }
    expect(told(await ask('AddKYCInfo', { ...info, ...blanks, UserToken }, 'westAdmin'))).toEqual([200])
    const [shown] = resultsOf<object>(await ask('GetKYCInfo', { UserToken }, 'westAdmin'))
    expect(Object.keys(shown ?? {}).filter((name) => name.startsWith('PhotoId'))).toEqual([])
  })

  test('is not readable in any table, and goes with its key when it is replaced', async () => {
    const UserToken = await newToken()
    await ask('AddKYCInfo', { ...info, PhotoId1: png, UserToken }, 'westAdmin')
    const keyOf = async () =>
      (await db.read.one<{ key: string }>`select sealed_key::text as key from kyc_info`).key
    const before = await keyOf()
    await ask('AddKYCInfo', { ...info, City: 'Troy', UserToken }, 'westAdmin')
    expect(await keyOf()).not.toBe(before)
    const [now] = resultsOf<Record<string, string>>(await ask('GetKYCInfo', { UserToken }, 'westAdmin'))
    expect([now?.City, now?.PhotoId1]).toEqual(['Troy', undefined])
    const tables = await db.read.rows<{ name: string }>`
      select tablename as name from pg_tables where schemaname = 'public'`
    for (const { name } of tables) {
      const found = await db.read.rows`
        select from ${identifier(name)} t where to_jsonb(t)::text like '%Nobody-Else%'`
      expect([name, found]).toEqual([name, []])
    }
  })

  test("of one person does not open in another's row", async () => {
    const [UserToken, other] = [await newToken(), await newToken(people.neighbour.personId)]
    await ask('AddKYCInfo', { ...info, UserToken }, 'westAdmin')
    await ask('AddKYCInfo', { ...info, UserToken: other }, 'westAdmin')
    await db.write.run`
      update kyc_info set (sealed_key, fields) = (select sealed_key, fields from kyc_info where person_id = ${personId})
      where person_id = ${people.neighbour.personId}`
    expect((await ask('GetKYCInfo', { UserToken: other }, 'westAdmin')).status).toBe(500)
    expect(town.platform.errors.splice(0).join()).not.toContain('Nobody-Else')
    await db.write.run`delete from kyc_info where person_id = ${people.neighbour.personId}`
  })

  test.each<[string, object, string]>([
    [
      'text instead of a photo',
      { PhotoId1: Buffer.from('no photo at all').toString('base64') },
      '1130 PhotoId1',
    ],
    ['what only begins like one', { PhotoId2: png.slice(0, 40) }, '1130 PhotoId2'],
    ['base64 that lacks its end', { PhotoId1: png.slice(0, -1) }, '1130 PhotoId1'],
    ['what is no base64', { PhotoId1: '<svg/>' }, '1130 PhotoId1'],
    [
      'a photo of five megabytes',
      { PhotoId1: Buffer.alloc(5_000_000, 1).toString('base64') },
      '1130 PhotoId1',
    ],
    ['an empty photo', { PhotoId1: '' }, '1130 PhotoId1'],
    ['a verified number that is none', { Phone: '5550123', IsPhoneVerified: true }, '1130 Phone'],
  ])('%s is refused and changes nothing', async (_, wrong, fault) => {
    const UserToken = await newToken()
    await ask('AddKYCInfo', { ...info, City: 'Before', UserToken }, 'westAdmin')
    const answer = await ask('AddKYCInfo', { ...info, ...wrong, UserToken }, 'westAdmin')
    expect(told(answer)).toEqual([400, fault])
    const [kept] = resultsOf<Record<string, string>>(await ask('GetKYCInfo', { UserToken }, 'westAdmin'))
    expect(kept?.City).toBe('Before')
  })

  test('a verified number becomes the number of the profile', async () => {
    const UserToken = await newToken()
    await ask('AddKYCInfo', { ...info, IsPhoneVerified: true, UserToken }, 'westAdmin')
    const found = await ask('SearchProfiles', { Phone: '2125550123' }, 'westAdmin')
    expect(resultsOf(found)).toMatchObject([{ Id: personId, Phone: info.Phone, IsPhoneVerified: true }])
  })
})

test('every look is entered in the audit log, a refused one as denied', async () => {
  const looks = () =>
    db.read.rows`select who, object, operation from audit_entry where operation like 'GetKYC%' order by id`
  const UserToken = await newToken()
  await ask('AddKYCInfo', { ...info, UserToken }, 'westAdmin')
  const before = (await looks()).length
  await ask('GetKYCInfo', { UserToken }, 'eastAdmin')
  await ask('GetKYCInfo', { UserToken }, 'westAdmin')
  await ask('GetKYCScore', { PersonId: personId }, 'westAdmin')
  const look = { who: String(people.westAdmin.personId), object: `person ${personId}` }
  expect((await looks()).slice(before)).toEqual([
    { who: String(people.eastAdmin.personId), object: 'denied', operation: 'GetKYCInfo' },
    { ...look, operation: 'GetKYCInfo' },
    { ...look, operation: 'GetKYCScore' },
  ])
})

test('nobody but admins of the site of the person', async () => {
  const UserToken = await newToken()
  const calls: [OperationName, object][] = [
    ['GetKYCInfo', { UserToken }],
    ['UpdateKYCScore', { UserToken }],
    ['AddKYCInfo', { ...info, UserToken }],
    ['GetKYCScore', { UserToken, PersonId: personId }],
  ]
  for (const [operation, params] of calls) {
    for (const citizen of ['holder', 'stranger', 'eastAdmin', 'southAdmin'] as const)
      expect([operation, citizen, (await ask(operation, params, citizen)).status]).toEqual([
        operation,
        citizen,
        403,
      ])
    const unknown = { ...params, UserToken: 'nobody has this' }
    expect(told(await ask(operation, unknown, 'westAdmin'))).toEqual([403, '1002 UserToken'])
    expect(told(await ask(operation, unknown, 'operator'))).toEqual([404, '2013 UserToken'])
  }
})
