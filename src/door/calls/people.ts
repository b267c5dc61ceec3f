/** Who is on the platform: sites, people with keys, brokerage accounts, and what no operation sets of a strategy. */
import { type Role, roles, siteKindOf } from '../../domain/people/access.ts'
import { isRefused } from '../../operations/context.ts'
import { issueKey } from '../../operations/keys.ts'
import { issueUserToken } from '../../operations/user-tokens.ts'
import type { Transaction } from '../../storage/database/sql.ts'
import { changeStrategy } from '../../storage/operating/administration.ts'
import { ensureBroker, insertAccounts, insertPersons, insertSite } from '../../storage/operating/provision.ts'
import { type DoorCall, type DoorState, post, Unserved } from '../call.ts'
import {
  aBoolean,
  aBrokerId,
  aNumber,
  anId,
  anyText,
  aSize,
  aText,
  choice,
  list,
  maybe,
  object,
  type Read,
  value,
  withDefault,
} from '../read.ts'
import { brokerEnvironments, builtInBrokers, insertBroker, knownPersons, listSites } from '../rows.ts'

/** Keys outlive every test. */
const keyLifeMs = 100 * 365 * 86_400_000

const Site = object({
  kind: choice('geo', 'whitelabel'),
  name: aText,
  domain: maybe(aText),
  parentSiteId: maybe(anId),
})

const sites = post('/sites', list(Site), ({ work, clock }, wanted) =>
  work.db.transaction(async (tx) => {
    const ids: number[] = []
    for (const { kind, name, domain, parentSiteId } of wanted) {
      const options = { ...(domain && { domain }), ...(parentSiteId && { parentSiteId }) }
      ids.push(await insertSite(tx, { kind, code: name, name, createdAt: clock.now(), ...options }))
    }
    return ids
  }),
)

const roleWords: ReadonlyMap<string, Role> = new Map([
  ['user', 'user'],
  ['customer', 'user'],
  ['geositeadmin', 'geosite_admin'],
  ['geoadmin', 'geosite_admin'],
  ['whitelabeladmin', 'whitelabel_admin'],
  ['wladmin', 'whitelabel_admin'],
  ['platformadmin', 'platform_admin'],
  ['admin', 'platform_admin'],
])
const aRole: Read<Role> = value(`one of ${roles.join(', ')}`, (raw) =>
  typeof raw === 'string' ? roleWords.get(raw.toLowerCase().replace(/[^a-z]/g, '')) : undefined,
)
const aSiteName = value('the id, name or domain of a site', (raw) =>
  typeof raw === 'string' || typeof raw === 'number' ? String(raw) : undefined,
)

const Person = object({
  firstName: aText,
  lastName: withDefault(anyText, ''),
  email: aText,
  role: withDefault(aRole, 'user'),
  site: maybe(aSiteName),
})

const people = post('/people', list(Person), (door, wanted) =>
  door.work.db.transaction(async (tx) => {
    const known = await listSites(tx)
    const placed: { siteId: number }[] = []
    for (const [place, { site, role }] of wanted.entries()) {
      const found = known.find((row) =>
        site === undefined ? row.kind === 'platform' : row.names.includes(site),
      )
      if (!found) throw new Unserved(`[${place}].site`, `There is no site ${site}`)
      const kind = siteKindOf[role]
      if (kind !== null && found.kind !== kind)
        throw new Unserved(`[${place}].site`, `A ${role} belongs to a site of the kind ${kind}`)
      placed.push({ siteId: found.id })
    }
    const createdAt = door.clock.now()
    const ids = await insertPersons(
      tx,
      wanted.map(({ firstName, lastName, email, role }, place) => ({
        firstName,
        lastName,
        email,
        role,
        createdAt,
        siteId: placed[place]?.siteId ?? 0,
      })),
    )
    return giveKeys(door, tx, ids)
  }),
)

async function giveKeys(
  { clock, secrets, keyEnvironment }: DoorState,
  tx: Transaction,
  personIds: readonly number[],
): Promise<{ personId: number; key: string }[]> {
  const now = clock.now()
  const answer: { personId: number; key: string }[] = []
  for (const personId of personIds) {
    const issued = await issueKey(tx, secrets, {
      personId,
      keyEnvironment,
      now,
      expiresAt: now + keyLifeMs,
    })
    if (isRefused(issued)) throw new Error(`no key for a new person: ${issued.refused}`)
    answer.push({ personId, key: issued.key })
  }
  return answer
}

const kinds = { live: 0, paper: 1, sim: 2 } as const

const Account = object({
  account: aText,
  personId: anId,
  kind: withDefault(choice('live', 'paper', 'sim'), 'live'),
  brokerId: maybe(aBrokerId),
  cash: aNumber,
  currency: maybe(aText),
})

const accounts = post('/accounts', list(Account), (door, wanted) =>
  door.work.db.transaction(async (tx) => {
    const persons = await knownPersons(
      tx,
      wanted.map(({ personId }) => personId),
    )
    const stranger = wanted.findIndex(({ personId }) => !persons.has(personId))
    if (stranger >= 0) throw new Unserved(`[${stranger}].personId`, 'There is no such person')
    const brokers: number[] = []
    for (const [place, { kind, brokerId }] of wanted.entries()) {
      const path = `[${place}].brokerId`
      brokers.push(await brokerFor(tx, kind === 'live' ? 'live' : 'paper', brokerId, path))
    }
    await insertAccounts(
      tx,
      wanted.map(({ account, personId, kind, cash, currency }, place) => ({
        account,
        personId,
        brokerId: brokers[place] ?? 0,
        kind: kinds[kind],
        startingCash: cash.toFixed(),
        createdAt: door.clock.now(),
        ...(currency && { currency }),
      })),
    )
  }),
)

/** The broker of an account: the one that is named, made when nobody has its id, or the built-in one. */
async function brokerFor(
  tx: Transaction,
  environment: 'live' | 'paper',
  wanted: number | undefined,
  path: string,
): Promise<number> {
  const standard = builtInBrokers[environment]
  if (wanted === undefined) return ensureBroker(tx, standard)
  const known = (await brokerEnvironments(tx)).get(wanted)
  if (known !== undefined && known !== environment)
    throw new Unserved(path, `Broker ${wanted} is no broker for ${environment} accounts`)
  if (known === undefined)
    await insertBroker(tx, { ...standard, id: wanted, name: `${standard.name} ${wanted}` })
  return wanted
}

const Strategy = object({
  strategyId: anId,
  private: maybe(aBoolean),
  monthlyCost: maybe(aSize),
  resellable: maybe(aBoolean),
  noSubs: maybe(aBoolean),
})

const strategies = post('/strategies', list(Strategy), ({ work, clock }, wanted) =>
  work.db.transaction(async (tx) => {
    for (const [place, facts] of wanted.entries()) {
      const changed = await changeStrategy(tx, {
        strategyId: facts.strategyId,
        isPrivate: facts.private,
        monthlyCost: facts.monthlyCost?.toFixed(),
        isResellable: facts.resellable,
        noSubsAllowed: facts.noSubs,
        changedAt: clock.now(),
      })
      if (changed === 0) throw new Unserved(`[${place}].strategyId`, 'There is no such strategy')
    }
  }),
)

const TokenHolder = object({ personId: anId })

const userTokens = post('/user-tokens', list(TokenHolder), ({ work, clock, secrets }, wanted) =>
  work.db.transaction(async (tx) => {
    const answer: { personId: number; userToken: string }[] = []
    for (const [place, { personId }] of wanted.entries()) {
      const userToken = await issueUserToken(tx, secrets, personId, clock.now())
      if (isRefused(userToken)) throw new Unserved(`[${place}].personId`, 'There is no such person')
      answer.push({ personId, userToken })
    }
    return answer
  }),
)

export const peopleCalls: readonly DoorCall[] = [sites, people, accounts, strategies, userTokens]
