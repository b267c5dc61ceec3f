/**
 * The right to the object, for many calls at once: the contract row names the rule, storage brings the facts,
 * the domain decides. A caller without platform-wide rights gets the same answer for what is foreign and for
 * what does not exist; a strategy that the caller may not know of is simply absent.
 */
import type { Access, Row } from '../contract/index.ts'
import {
  actsForPerson,
  isAdminOfSite,
  isPermitted,
  isPlatformAdmin,
  isSiteAdmin,
  ownsStrategy,
  readsPerson,
  type StrategyFacts,
  seesStrategy,
  siteKindOf,
  type Tenancy,
  viewsOrders,
} from '../domain/people/access.ts'
import type { Sql } from '../storage/database/sql.ts'
import {
  findPersonTenancies,
  findSignalStrategies,
  findSiteTenancies,
  haveFollowed,
  listAccountHolders,
  loadStrategyFacts,
} from '../storage/people/access.ts'
import { findTokenTenancies } from '../storage/people/kyc.ts'
import { type Caller, type Context, type Refused, refuse } from './context.ts'
import { hashUserToken } from './user-tokens.ts'

export interface Asked {
  ctx: Context
  params: unknown
}
export type Verdict = Refused | undefined
type RuleOf<Name extends Access['rule']> = Extract<Access, { rule: Name }>

const forbidden = (field: string): Refused => refuse('Forbidden', field)

/** What is not there: the operator is told so, others hear what they hear of what is foreign. */
export const refuseAbsent = (caller: Caller, field: string): Refused =>
  isPlatformAdmin(caller) ? refuse('NotFound', field) : forbidden(field)

/** The value at a dotted path of the parameters, undefined where a step is missing. */
function at(params: unknown, path: string | undefined): unknown {
  if (path === undefined) return undefined
  let value = params
  for (const step of path.split('.')) value = (value as Record<string, unknown> | undefined)?.[step]
  return value
}

const idAt = (params: unknown, path: string | undefined): number | bigint | undefined =>
  at(params, path) as number | bigint | undefined

/** The strategy that a call of an operation of strategy owners is about. */
export const subjectOf = ({ access }: Row, params: unknown): number | bigint | undefined =>
  access.rule === 'strategyOwner' ? idAt(params, access.strategy) : undefined

/** As `checkAccess` decides such calls, from the strategies as they were read with something else. */
export function ownersVerdicts(
  row: Row,
  calls: readonly Asked[],
  strategies: ReadonlyMap<number, { readonly ownerPersonId: number }>,
): Verdict[] {
  const { access } = row
  if (access.rule !== 'strategyOwner') throw new Error('only owners are known by the strategy alone')
  return calls.map(({ ctx, params }) => {
    const strategy = strategies.get(Number(subjectOf(row, params)))
    return verdictOn(ctx.caller, strategy ?? null, access.strategy, ownsStrategy)
  })
}

/** Decides every call of one operation, in order; undefined means it may go on. */
export async function checkAccess(sql: Sql, row: Row, calls: readonly Asked[]): Promise<Verdict[]> {
  const { access } = row
  switch (access.rule) {
    case 'anyKey':
    case 'ownOrSite':
    case 'approvalViewer':
      return calls.map(() => undefined) // the handler cuts the rows to what the caller may see
    case 'visibleStrategy':
      return checkVisible(sql, access, calls)
    case 'strategyFollowers':
      return checkFollowers(sql, access, calls)
    case 'strategyOwner':
      return checkOwners(sql, access.strategy, calls)
    case 'strategyViewer':
      return checkViewers(sql, access, calls)
    case 'personReader':
    case 'person':
      return checkPersons(sql, access, calls, row.without?.includes(404) !== true)
    case 'siteAdmin':
      return checkSites(sql, access, calls)
  }
}

async function factsOf(
  sql: Sql,
  calls: readonly Asked[],
  ids: readonly (number | bigint)[],
): Promise<(StrategyFacts | null)[]> {
  return loadStrategyFacts(
    sql,
    ids,
    calls.map(({ ctx }) => ctx.caller.personId),
  )
}

async function checkVisible(
  sql: Sql,
  access: RuleOf<'visibleStrategy'>,
  calls: readonly Asked[],
): Promise<Verdict[]> {
  const named = calls.filter(({ params }) => idAt(params, access.strategy) !== undefined)
  const facts = await factsOf(
    sql,
    named,
    named.map(({ params }) => idAt(params, access.strategy) ?? 0),
  )
  const found = new Map(named.map((call, index) => [call, facts[index]]))
  return calls.map((call) => {
    if (!found.has(call)) return undefined
    const strategy = found.get(call)
    return strategy && seesStrategy(call.ctx.caller, strategy)
      ? undefined
      : refuse('NotFound', access.strategy)
  })
}

/**
 * Who follows a strategy is told to its owner and to whoever has followed it, each of them what is theirs. To admins
 * of a site every strategy is as one that none of their customers follows, also where there is none.
 */
async function checkFollowers(
  sql: Sql,
  { strategy: path }: RuleOf<'strategyFollowers'>,
  calls: readonly Asked[],
): Promise<Verdict[]> {
  if (path === undefined) return calls.map(() => undefined)
  const named = calls.filter(({ ctx }) => !isAdminOfSite(ctx.caller))
  const ids = named.map(({ params }) => idAt(params, path) ?? 0)
  const persons = named.map(({ ctx }) => ctx.caller.personId)
  const [facts, followed] = await Promise.all([factsOf(sql, named, ids), haveFollowed(sql, ids, persons)])
  const verdicts = named.map(({ ctx }, place) =>
    verdictOn(
      ctx.caller,
      facts[place] ?? null,
      path,
      (caller, strategy) => ownsStrategy(caller, strategy) || followed[place] === true,
    ),
  )
  return calls.map((call) => verdicts[named.indexOf(call)])
}

async function checkOwners(sql: Sql, path: string, calls: readonly Asked[]): Promise<Verdict[]> {
  const facts = await factsOf(
    sql,
    calls,
    calls.map(({ params }) => idAt(params, path) ?? 0),
  )
  return calls.map(({ ctx }, index) => verdictOn(ctx.caller, facts[index] ?? null, path, ownsStrategy))
}

function verdictOn<Facts>(
  caller: Caller,
  strategy: Facts | null,
  path: string,
  allows: (caller: Caller, strategy: Facts) => boolean,
): Verdict {
  if (!strategy) return refuseAbsent(caller, path)
  return allows(caller, strategy) ? undefined : forbidden(path)
}

/** Every strategy that a call names, itself, in a list or through a signal, must be one whose orders it may see. */
async function checkViewers(
  sql: Sql,
  access: RuleOf<'strategyViewer'>,
  calls: readonly Asked[],
): Promise<Verdict[]> {
  const signalIds = calls.flatMap(({ params }) => idAt(params, access.signal) ?? [])
  const signals =
    signalIds.length > 0 ? await findSignalStrategies(sql, signalIds) : new Map<number, number>()
  const wanted: { call: Asked; index: number; id: number | bigint; path: string | undefined }[] = []
  for (const [index, call] of calls.entries()) {
    const one = idAt(call.params, access.strategy)
    const many = at(call.params, access.strategies) as readonly (number | bigint)[] | undefined
    const signal = idAt(call.params, access.signal)
    if (one !== undefined) wanted.push({ call, index, id: one, path: access.strategy })
    for (const id of many ?? []) wanted.push({ call, index, id, path: access.strategies })
    if (signal !== undefined)
      wanted.push({ call, index, id: signals.get(Number(signal)) ?? 0, path: access.signal })
  }
  const facts = await factsOf(
    sql,
    wanted.map(({ call }) => call),
    wanted.map(({ id }) => id),
  )
  const verdicts: Verdict[] = calls.map(() => undefined)
  wanted.forEach(({ call, index, path }, place) => {
    verdicts[index] ??= verdictOn(call.ctx.caller, facts[place] ?? null, path ?? '', viewsOrders)
  })
  return verdicts
}

/**
 * A person, or the holder of an account, or both: the account must then be that person's. Without either the
 * caller is meant. Where an operation has no 404, what does not exist is forbidden to everybody.
 */
async function checkPersons(
  sql: Sql,
  access: RuleOf<'person'> | RuleOf<'personReader'>,
  calls: readonly Asked[],
  mayBeAbsent: boolean,
): Promise<Verdict[]> {
  const numbers = calls.flatMap(({ params }) => (at(params, access.account) as string | undefined) ?? [])
  const holders = numbers.length > 0 ? await listAccountHolders(sql, numbers) : []
  const personIds = calls.flatMap(({ params }) => idAt(params, access.person) ?? [])
  const tenancies = personIds.length > 0 ? await findPersonTenancies(sql, personIds) : new Map()
  const allows = access.rule === 'person' ? actsForPerson : readsPerson
  return calls.map(({ ctx: { caller }, params }) => {
    const sent = idAt(params, access.person)
    const account = at(params, access.account) as string | undefined
    const absent = (field: string): Refused => (mayBeAbsent ? refuseAbsent(caller, field) : forbidden(field))
    if (sent !== undefined) {
      const tenancy = tenancies.get(Number(sent))
      if (!tenancy) return absent(access.person ?? '')
      if (!allows(caller, { personId: Number(sent), ...tenancy })) return forbidden(access.person ?? '')
    }
    if (account === undefined) return undefined
    const candidates = holders.filter(
      (holder) => holder.account === account && (sent === undefined || holder.personId === Number(sent)),
    )
    return candidates.some((holder) => allows(caller, holder)) ? undefined : absent(access.account ?? '')
  })
}

interface Named {
  readonly field: string
  /** Nothing where there is no such site, person or token. */
  readonly tenancy: Tenancy | undefined
}

/** An admin of one of the kinds, with the permission, of every site, person and user token that the call names. */
async function checkSites(
  sql: Sql,
  access: RuleOf<'siteAdmin'>,
  calls: readonly Asked[],
): Promise<Verdict[]> {
  const namedBy = await findNamed(sql, access, calls)
  return calls.map((call) => {
    const { caller } = call.ctx
    if (!isPlatformAdmin(caller) && !mayAdminister(caller, access))
      return forbidden(access.site ?? access.geoSite ?? access.person ?? access.userToken ?? '')
    for (const { field, tenancy } of namedBy(call)) {
      if (tenancy === undefined) return refuseAbsent(caller, field)
      if (!administers(caller, tenancy)) return forbidden(field)
    }
    return undefined
  })
}

function mayAdminister(caller: Caller, { kinds, permission }: RuleOf<'siteAdmin'>): boolean {
  const kind = siteKindOf[caller.role]
  if (kind === null || !kinds.includes(kind)) return false
  return permission === undefined || isPermitted(caller, permission)
}

const administers = (caller: Caller, tenancy: Tenancy): boolean =>
  isPlatformAdmin(caller) || isSiteAdmin(caller, tenancy)

/** What the calls name, found in one statement per kind of object. */
async function findNamed(
  sql: Sql,
  access: RuleOf<'siteAdmin'>,
  calls: readonly Asked[],
): Promise<(call: Asked) => Named[]> {
  const idsAt = (path: string | undefined) => calls.flatMap(({ params }) => idAt(params, path) ?? [])
  const textsAt = (path: string | undefined) =>
    calls.flatMap(({ params }) => (at(params, path) as string | undefined) ?? [])
  const hashOf = ({ ctx }: Asked, token: string) => hashUserToken(ctx.secrets, token)
  const tokens = calls.flatMap((call) => {
    const token = at(call.params, access.userToken) as string | undefined
    return token === undefined ? [] : [hashOf(call, token)]
  })
  const [siteIds, codes, personIds] = [idsAt(access.site), textsAt(access.geoSite), idsAt(access.person)]
  const sites = siteIds.length + codes.length > 0 ? await findSiteTenancies(sql, siteIds, codes) : []
  const persons =
    personIds.length > 0 ? await findPersonTenancies(sql, personIds) : new Map<number, Tenancy>()
  const holders = tokens.length > 0 ? await findTokenTenancies(sql, tokens) : new Map<string, Tenancy>()
  return (call) => {
    const named: Named[] = []
    const find = <T>(path: string | undefined, known: (value: T) => Tenancy | undefined): void => {
      const value = at(call.params, path) as T | undefined
      if (path !== undefined && value !== undefined) named.push({ field: path, tenancy: known(value) })
    }
    find<number | bigint>(access.site, (id) =>
      sites.find(({ kind, siteId }) => kind === 'whitelabel' && siteId === Number(id)),
    )
    find<string>(access.geoSite, (code) => sites.find((site) => site.kind === 'geo' && site.code === code))
    find<number | bigint>(access.person, (id) => persons.get(Number(id)))
    find<string>(access.userToken, (token) => holders.get(hashOf(call, token).toString('hex')))
    return named
  }
}
