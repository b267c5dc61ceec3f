/** Adding, showing and finding people over HTTP. */
import { describe, expect, test } from 'vitest'
import type { OperationName } from '../../src/contract/index.ts'
import { identifier } from '../../src/storage/database/sql.ts'
import { resultsOf, told } from '../support/http.ts'
import { type AskOptions, buildTown, type CitizenName } from './support/town.ts'

const town = await buildTown()
const { people, sites } = town
const { db } = town.platform

const ann = {
  FirstName: 'Ann',
  LastName: 'Lee',
  ScreenName: 'annie',
  Email: 'ann@example.com',
  Password: 'a long sentence of hers',
  Language: 'eng',
  CountryCode: 'US',
  DivisionCode: 'US-NY',
}
let added = 0
const another = () => {
  added += 1
  return { ...ann, Email: `ann${added}@example.com` }
}

const ask = (
  operation: OperationName,
  params: object,
  citizen: CitizenName,
  host: AskOptions['host'] = 'Geo',
) => town.ask(operation, params, { key: people[citizen].key, host })

async function add(params: object, citizen: CitizenName = 'westAdmin'): Promise<number> {
  const answer = await ask('AddProfile', params, citizen)
  expect([answer.status, answer.text]).toEqual([200, expect.stringContaining('PersonId')])
  return resultsOf<{ PersonId: number }>(answer)[0]?.PersonId ?? 0
}

async function found(citizen: CitizenName, filter: object): Promise<number[]> {
  const answer = await ask('SearchProfiles', filter, citizen)
  expect(answer.status).toBe(200)
  return resultsOf<{ Id: number }>(answer).map(({ Id }) => Id)
}

/** The tables that hold a text somewhere. */
async function tablesWith(text: string): Promise<string[]> {
  const tables = await db.read.rows<{ name: string }>`
    select tablename as name from pg_tables where schemaname = 'public'`
  const holding: string[] = []
  for (const { name } of tables) {
    const rows = await db.read.rows`
      select from ${identifier(name)} t where strpos(to_jsonb(t)::text, ${text}) > 0`
    if (rows.length > 0) holding.push(name)
  }
  return holding
}

describe('adding a person', () => {
  test('to the site of the admin: shown to the admin, with everything that was said', async () => {
    const params = { ...another(), City: 'Albany', Phone: '+12125550123' }
    const answer = await ask('AddProfile', params, 'westAdmin', 'WL')
    const [made] = resultsOf<{ PersonId: number; CSRF: string }>(answer)
    expect(made?.CSRF).toMatch(/^[\w-]{43}$/)
    const shown = await ask('SearchProfiles', { PersonId: made?.PersonId }, 'westAdmin')
    expect(resultsOf(shown)).toEqual([
      {
        Id: made?.PersonId,
        Alias: 'annie',
        FirstName: 'Ann',
        LastName: 'Lee',
        Email: params.Email,
        Phone: '+12125550123',
        IsPhoneVerified: false,
        Language: 'eng',
        WhiteLabelSiteId: sites.west,
        CountryCode: 'US',
        DivisionCode: 'US-NY',
        Created: '2024-03-12T14:00:00Z',
        IsEmailValidated: false,
        IsAlive: true,
        ApprovedAccounts: [],
        IsManager: false,
        IsInvestor: false,
        GeoSite: 'north',
        IsGeoSiteAdmin: false,
      },
    ])
  })

  test.each<[string, CitizenName, () => object, () => number | undefined]>([
    ['a region', 'northAdmin', () => ({}), () => undefined],
    ['a region by name', 'northAdmin', () => ({ GeoSite: 'north' }), () => undefined],
    [
      'a white-label site below the region',
      'northAdmin',
      () => ({ WhiteLabelSiteId: sites.west, IPAddress: '192.0.2.7' }),
      () => sites.west,
    ],
    [
      'both, which belong together',
      'operator',
      () => ({ WhiteLabelSiteId: sites.east, GeoSite: 'south', IPAddress: '2001:db8::1' }),
      () => sites.east,
    ],
  ])('to %s', async (_, citizen, more, siteId) => {
    const id = await add({ ...another(), ...more() }, citizen)
    const [row] = resultsOf<{ WhiteLabelSiteId?: number }>(
      await ask('SearchProfiles', { PersonId: id }, 'operator'),
    )
    expect(row?.WhiteLabelSiteId).toBe(siteId())
  })

  test.each<[string, object, unknown[]]>([
    ['a language that is none', { Language: 'xxx' }, [400, '1130 Language']],
    ['a language of two letters', { Language: 'en' }, [400, '1102 Language']],
    ['a country that is none', { CountryCode: 'ZZ' }, [400, '1130 CountryCode']],
    ['a country that is no country of the list', { CountryCode: 'XK' }, [400, '1130 CountryCode']],
    ['a division of another country', { DivisionCode: 'CA-ON' }, [400, '1130 DivisionCode']],
    ['a division that is none', { DivisionCode: 'QQ' }, [400, '1130 DivisionCode']],
    ['a phone number without a plus sign', { Phone: '12125550123' }, [400, '1130 Phone']],
    ['a phone number with a zero inside', { Phone: '+4407911123456' }, [400, '1130 Phone']],
    ['a phone number that is too short', { Phone: '+1202555' }, [400, '1130 Phone']],
    ['a short password', { Password: 'Ab3$xyz' }, [400, '1102 Password']],
    ['a password that everybody tries', { Password: 'Password123' }, [400, '1130 Password']],
    ['a password that is a word of the platform', { Password: 'Lockstep1' }, [400, '1130 Password']],
    ['no name', { FirstName: '' }, [400, '1102 FirstName']],
    ['a blank name', { ScreenName: '  ' }, [400, '1102 ScreenName']],
    ['an address without an at sign', { Email: 'ann' }, [400, '1102 Email']],
    ['an address in brackets', { Email: '<ann@example.com>' }, [400, '1102 Email']],
    ['an address with half a bracket', { Email: 'ann@example.com>' }, [400, '1102 Email']],
    ['an address with a character of no width', { Email: 'ann@example.com\u200b' }, [400, '1102 Email']],
    ['no address of the machine', { WhiteLabelSiteId: 0 }, [400, '1102 IPAddress']],
  ])('%s is refused', async (_, wrong, refusal) => {
    const params = { ...another(), ...wrong }
    if ('WhiteLabelSiteId' in wrong) Object.assign(params, { WhiteLabelSiteId: sites.west })
    expect(told(await ask('AddProfile', params, 'westAdmin'))).toEqual(refusal)
  })

  test('a division may leave out its country, and a country without divisions stands for itself', async () => {
    const short = await add({ ...another(), DivisionCode: 'NY' })
    const long = await add({ ...another(), DivisionCode: 'US-NY' })
    for (const DivisionCode of ['NY', 'US-NY', 'us-n'])
      expect(await found('westAdmin', { DivisionCode })).toEqual(expect.arrayContaining([short, long]))
    await add({ ...another(), CountryCode: 'GI', DivisionCode: 'GI' })
    const divided = { ...another(), CountryCode: 'DE', DivisionCode: 'DE' }
    expect(told(await ask('AddProfile', divided, 'westAdmin'))).toEqual([400, '1130 DivisionCode'])
  })

  test('an IP address that is none, and sites that do not belong together', async () => {
    const site = { WhiteLabelSiteId: sites.west }
    const answer = await ask('AddProfile', { ...another(), ...site, IPAddress: '1.2.3' }, 'westAdmin')
    expect(told(answer)).toEqual([400, '1130 IPAddress'])
    const ignored = await add({ ...another(), IPAddress: '198.51.100.9' })
    expect(await found('westAdmin', { PersonId: ignored })).toEqual([ignored])
    expect(await found('westAdmin', { IPAddress: '198.51.100.9' })).toEqual([])
    const apart = { ...another(), ...site, GeoSite: 'south', IPAddress: '192.0.2.7' }
    expect(told(await ask('AddProfile', apart, 'operator'))).toEqual([400, '1128 GeoSite'])
  })

  test.each<[string, CitizenName, () => object, unknown[]]>([
    ['nobody but admins', 'owner', () => ({}), [403, '1002 WhiteLabelSiteId']],
    [
      'to a foreign site',
      'westAdmin',
      () => ({ WhiteLabelSiteId: sites.east }),
      [403, '1002 WhiteLabelSiteId'],
    ],
    [
      'to a site that is none',
      'westAdmin',
      () => ({ WhiteLabelSiteId: 999 }),
      [403, '1002 WhiteLabelSiteId'],
    ],
    [
      'to a region as if it were a site',
      'northAdmin',
      () => ({ WhiteLabelSiteId: sites.north }),
      [403, '1002 WhiteLabelSiteId'],
    ],
    ['to a foreign region', 'northAdmin', () => ({ GeoSite: 'south' }), [403, '1002 GeoSite']],
    ['to a region that is none', 'operator', () => ({ GeoSite: 'nowhere' }), [404, '2013 GeoSite']],
    [
      'to a site that is none, by the operator',
      'operator',
      () => ({ WhiteLabelSiteId: 999 }),
      [404, '2013 WhiteLabelSiteId'],
    ],
  ])('is refused: %s', async (_, citizen, more, refusal) => {
    const params = { ...another(), IPAddress: '192.0.2.7', ...more() }
    expect(told(await ask('AddProfile', params, citizen))).toEqual(refusal)
  })

  test('an address that is taken, in any letter case, once and under a storm of calls', async () => {
    const params = another()
    const storm = await Promise.all([1, 2, 3, 4].map(() => ask('AddProfile', params, 'westAdmin')))
    const statuses = storm.map(({ status }) => status).sort()
    expect(statuses).toEqual([200, 409, 409, 409])
    const again = await ask('AddProfile', { ...params, Email: params.Email.toUpperCase() }, 'westAdmin')
    expect(told(again)).toEqual([409, '3016 Email'])
  })

  test('an idempotent call makes one person and answers alike', async () => {
    const params = another()
    const headers = { 'Idempotency-Key': 'one-ann' }
    const send = () => town.ask('AddProfile', params, { key: people.westAdmin.key, host: 'WL', headers })
    const [one, two] = [await send(), await send()]
    expect([one.status, two.text]).toEqual([200, one.text])
    expect(two.headers['idempotent-replayed']).toBe('true')
    const [{ CSRF: token } = { CSRF: '' }] = resultsOf<{ CSRF: string }>(one)
    expect(await tablesWith(token)).toEqual([])
  })

  test('the password is stored as argon2id with a secret, and nowhere else', async () => {
    const params = { ...another(), Password: 'the words that nobody may find' }
    const id = await add(params)
    const { hash } = await db.read.one<{
      hash: string
    }>`select password_hash as hash from person where id = ${id}`
    expect(hash).toMatch(/^\$argon2id\$v=19\$m=19456,t=2,p=1\$/)
    expect(await tablesWith('nobody may find')).toEqual([])
  })
})

describe('showing a person', () => {
  const profile = async (citizen: CitizenName, params: object, host: AskOptions['host'] = 'Gen') =>
    resultsOf<Record<string, unknown>>(await ask('GetProfile', params, citizen, host))[0]

  test('everything to the person, whose id may be left out', async () => {
    const own = await profile('owner', {})
    expect(own).toMatchObject({
      FirstName: 'owner',
      Email: 'owner@example.org',
      WhiteLabelSiteId: sites.west,
      GeoSite: 'north',
    })
    expect(await profile('owner', { PersonId: people.owner.personId })).toEqual(own)
    expect(own).not.toHaveProperty('Icon')
  })

  test.each<CitizenName>(['stranger', 'westAdmin', 'operator'])('the public part to %s', async (citizen) => {
    const shown = await profile(citizen, { PersonId: people.owner.personId }, 'WL')
    expect(shown).toEqual({ Id: people.owner.personId, Alias: 'owner', IsManager: true, IsInvestor: false })
    expect(await profile(citizen, { PersonId: people.holder.personId })).toMatchObject({
      IsManager: false,
      IsInvestor: true,
    })
  })

  test('a picture where it is asked for, on the partner hosts', async () => {
    const asked = { PersonId: people.owner.personId, IncludeIconInResponse: true }
    expect((await profile('stranger', asked, 'Geo'))?.Icon).toMatch(/^data:image\/svg\+xml;base64,/)
    expect(told(await ask('GetProfile', asked, 'stranger', 'Gen'))).toEqual([
      400,
      '1130 IncludeIconInResponse',
    ])
  })

  test('nobody, when there is nobody', async () => {
    expect(told(await ask('GetProfile', { PersonId: 999_999 }, 'stranger'))).toEqual([404, '2013 PersonId'])
  })
})

describe('finding people', () => {
  test('everybody of the own site, of the region with its sites, of the platform', async () => {
    const ids = (names: readonly CitizenName[]) => names.map((name) => people[name].personId)
    const sought = async (citizen: CitizenName) => found(citizen, { Email: '@example.org' })
    expect(await sought('westAdmin')).toEqual(ids(['owner', 'holder', 'neighbour', 'westAdmin']))
    expect(await sought('northAdmin')).toEqual(
      ids(['owner', 'holder', 'neighbour', 'westAdmin', 'northAdmin']),
    )
    expect(await sought('eastAdmin')).toEqual(ids(['eastAdmin']))
    expect((await sought('operator')).length).toBe(Object.keys(people).length)
    expect(told(await ask('SearchProfiles', {}, 'owner'))[0]).toBe(403)
  })

  test.each<[string, object, boolean]>([
    ['a part of the first name in another case', { FirstName: 'OLD' }, true],
    ['another last name', { LastName: 'x' }, false],
    ['a part of the country', { CountryCode: 'u' }, true],
    ['the own id', { PersonId: 'holder' }, true],
    ['signs that mean more elsewhere', { FirstName: 'h%r' }, false],
    ['who is alive', { IsAlive: true }, true],
    ['who is not', { IsAlive: false }, false],
    ['the own site', { WhiteLabelSiteId: 'west' }, true],
    ['a number that is not verified', { Phone: '+1' }, false],
  ])('by %s', async (_, filter, isFound) => {
    const named = Object.fromEntries(
      Object.entries(filter).map(([name, value]) => [
        name,
        value === 'holder' ? people.holder.personId : value === 'west' ? sites.west : value,
      ]),
    )
    expect((await found('westAdmin', named)).includes(people.holder.personId)).toBe(isFound)
  })

  test('a verified number by a part of it', async () => {
    const id = await add({ ...another(), Phone: '+12125550199' })
    expect(await found('westAdmin', { Phone: '5550199' })).toEqual([])
    await db.write.run`update person set is_phone_verified = true where id = ${id}`
    expect(await found('westAdmin', { Phone: '5550199' })).toEqual([id])
  })
})

describe('members of sites', () => {
  test('of a white-label site, for its admin and the operator', async () => {
    const list = (citizen: CitizenName) =>
      ask('GetWhiteLabelSiteUsers', { WhiteLabelSiteId: sites.west }, citizen)
    const shown = resultsOf<Record<string, unknown>>(await list('westAdmin'))
    const admin = shown.find(({ Id }) => Id === people.westAdmin.personId)
    expect(admin).toMatchObject({
      IsWhiteLabelSiteAdmin: true,
      WhiteLabelPermissions: 'catalog,members,kyc,reports,billing',
      WhiteLabelSiteId: sites.west,
      GeoSite: 'north',
    })
    expect(shown.find(({ Id }) => Id === people.owner.personId)).not.toHaveProperty('WhiteLabelPermissions')
    expect(resultsOf(await list('operator')).length).toBe(shown.length)
    for (const citizen of ['northAdmin', 'eastAdmin', 'owner'] as const)
      expect(told(await list(citizen))).toEqual([403, '1002 WhiteLabelSiteId'])
    const none = await ask('GetWhiteLabelSiteUsers', { WhiteLabelSiteId: 999 }, 'operator')
    expect(told(none)).toEqual([404, '2013 WhiteLabelSiteId'])
  })

  test('of a region with its sites, for its admin and the operator', async () => {
    const list = (citizen: CitizenName, GeoSite = 'south') => ask('GetGeoSiteUsers', { GeoSite }, citizen)
    const ids = resultsOf<{ Id: number }>(await list('southAdmin')).map(({ Id }) => Id)
    expect(ids).toEqual(expect.arrayContaining([people.eastAdmin.personId, people.southAdmin.personId]))
    expect(ids).not.toContain(people.westAdmin.personId)
    for (const citizen of ['northAdmin', 'eastAdmin', 'owner'] as const)
      expect(told(await list(citizen))).toEqual([403, '1002 GeoSite'])
    expect(told(await list('operator', 'west'))).toEqual([404, '2013 GeoSite'])
  })

  test('an admin who was given less may do less', async () => {
    const id = people.eastAdmin.personId
    const list = () => ask('GetWhiteLabelSiteUsers', { WhiteLabelSiteId: sites.east }, 'eastAdmin')
    expect((await list()).status).toBe(200)
    await db.write.run`update person set permissions = '{kyc}' where id = ${id}`
    await db.write.run`select pg_notify('keys', '')`
    await expect.poll(async () => told(await list())).toEqual([403, '1002 WhiteLabelSiteId'])
    await db.write.run`update person set permissions = null where id = ${id}`
  })

  test('the regions, to anybody', async () => {
    expect(resultsOf(await ask('GetGeoSites', {}, 'stranger'))).toEqual([
      { Id: sites.north, GeoSIteId: 'north', Domain: 'north.example' },
      { Id: sites.south, GeoSIteId: 'south', Domain: 'south.example' },
    ])
  })
})

describe('a phone number', () => {
  test('is known or not', async () => {
    const Phone = '+447911123456'
    const known = async () => resultsOf(await ask('GetPhoneAlreadyExists', { Phone }, 'stranger'))
    expect(await known()).toEqual([false])
    await add({ ...another(), Phone })
    expect(await known()).toEqual([true])
  })

  test.each(['12125550123', '+1 212 555 0123', '+4407911123456', '+1202555', '+', 'x'])(
    '%s is none',
    async (Phone) => {
      expect(told(await ask('GetPhoneAlreadyExists', { Phone }, 'stranger'))).toEqual([400, '1102 Phone'])
    },
  )
})
