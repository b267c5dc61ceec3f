/**
 * The right to the object, for many calls at once: the contract row names the rule, storage brings the facts,
 * the domain decides. A caller without platform-wide rights gets the same answer for what is foreign and for
 * what does not exist; a strategy that the caller may not know of is simply absent.
 */
import type { Access, Row } from '../contract/index.ts'
import {
  actsForPerson,
  isPlatformAdmin,
  isSiteAdmin,
  ownsStrategy,
  readsPerson,
  type StrategyFacts,
  seesStrategy,
  viewsOrders,
} from '../domain/access.ts'
import {
  findPersonTenancies,
  findSignalStrategies,
  findSiteTenancies,
  listAccountHolders,
  loadStrategyFacts,
} from '../storage/access.ts'
import type { Sql } from '../storage/sql.ts'
import { type Caller, type Context, type Refused, refuse } from './context.ts'

export interface Asked {
  ctx: Context
  params: unknown
}
type Verdict = Refused | undefined
type RuleOf<Name extends Access['rule']> = Extract<Access, { rule: Name }>

const forbidden = (field: string): Refused =>
  refuse('Forbidden', field, 'You are not authorized to access that information')

/** The value at a dotted path of the parameters, undefined where a step is missing. */
function at(params: unknown, path: string | undefined): unknown {
  if (path === undefined) return undefined
  let value = params
  for (const step of path.split('.')) value = (value as Record<string, unknown> | undefined)?.[step]
  return value
}

const idAt = (params: unknown, path: string | undefined): number | bigint | undefined =>
  at(params, path) as number | bigint | undefined

/** Decides every call of one operation, in order; undefined means it may go on. */
export async function checkAccess(sql: Sql, row: Row, calls: readonly Asked[]): Promise<Verdict[]> {
  const { access } = row
  switch (access.rule) {
    case 'anyKey':
    case 'strategyFollowers':
    case 'ownOrSite':
    case 'approvalViewer':
      return calls.map(() => undefined) // the handler cuts the rows to what the caller may see
    case 'visibleStrategy':
      return checkVisible(sql, access, calls)
    case 'strategyOwner':
      return checkStrategies(sql, access.strategy, calls, ownsStrategy)
    case 'strategyViewer':
      return checkViewers(sql, access, calls)
    case 'personReader':
    case 'person':
      return checkPersons(sql, access, calls)
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

async function checkStrategies(
  sql: Sql,
  path: string,
  calls: readonly Asked[],
  allows: (caller: Caller, strategy: StrategyFacts) => boolean,
): Promise<Verdict[]> {
  const facts = await factsOf(
    sql,
    calls,
    calls.map(({ params }) => idAt(params, path) ?? 0),
  )
  return calls.map(({ ctx }, index) => verdictOn(ctx.caller, facts[index] ?? null, path, allows))
}

function verdictOn(
  caller: Caller,
  strategy: StrategyFacts | null,
  path: string,
  allows: (caller: Caller, strategy: StrategyFacts) => boolean,
): Verdict {
  if (strategy) return allows(caller, strategy) ? undefined : forbidden(path)
  return isPlatformAdmin(caller) ? refuse('NotFound', path) : forbidden(path)
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
  const wanted = calls.flatMap((call, index) => {
    const one = idAt(call.params, access.strategy)
    const many = (at(call.params, access.strategies) ?? []) as readonly (number | bigint)[]
    const signal = idAt(call.params, access.signal)
    return [
      ...(one === undefined ? [] : [{ call, index, id: one, path: access.strategy ?? '' }]),
      ...many.map((id) => ({ call, index, id, path: access.strategies ?? '' })),
      ...(signal === undefined
        ? []
        : [{ call, index, id: signals.get(Number(signal)) ?? 0, path: access.signal ?? '' }]),
    ]
  })
  const facts = await factsOf(
    sql,
    wanted.map(({ call }) => call),
    wanted.map(({ id }) => id),
  )
  const verdicts: Verdict[] = calls.map(() => undefined)
  wanted.forEach(({ call, index, path }, place) => {
    verdicts[index] ??= verdictOn(call.ctx.caller, facts[place] ?? null, path, viewsOrders)
  })
  return verdicts
}

/**
 * A person, or the holder of an account, or both: the account must then be that person's. Without either the
 * caller is meant.
 */
async function checkPersons(
  sql: Sql,
  access: RuleOf<'person'> | RuleOf<'personReader'>,
  calls: readonly Asked[],
): Promise<Verdict[]> {
  const numbers = calls.flatMap(({ params }) => (at(params, access.account) as string | undefined) ?? [])
  const holders = numbers.length > 0 ? await listAccountHolders(sql, numbers) : []
  const personIds = calls.flatMap(({ params }) => idAt(params, access.person) ?? [])
  const tenancies = personIds.length > 0 ? await findPersonTenancies(sql, personIds) : new Map()
  const allows = access.rule === 'person' ? actsForPerson : readsPerson
  return calls.map(({ ctx: { caller }, params }) => {
    const sent = idAt(params, access.person)
    const account = at(params, access.account) as string | undefined
    const absent = (field: string): Refused =>
      isPlatformAdmin(caller) ? refuse('NotFound', field) : forbidden(field)
    if (sent !== undefined) {
      const tenancy = tenancies.get(Number(sent))
      if (!tenancy) return absent(access.person ?? '')
      if (!allows(caller, { ...tenancy, personId: Number(sent) })) return forbidden(access.person ?? '')
    }
    if (account === undefined) return undefined
    const candidates = holders.filter(
      (holder) => holder.account === account && (sent === undefined || holder.personId === Number(sent)),
    )
    return candidates.some((holder) => allows(caller, holder)) ? undefined : absent(access.account ?? '')
  })
}

/** An admin of one of the kinds, and of the sites and the person that the call names. */
async function checkSites(
  sql: Sql,
  access: RuleOf<'siteAdmin'>,
  calls: readonly Asked[],
): Promise<Verdict[]> {
  const named = calls.flatMap(({ params }) => sitesIn(params, access))
  const sites =
    named.length > 0
      ? await findSiteTenancies(
          sql,
          named.map(({ name }) => name),
        )
      : new Map()
  const personIds = calls.flatMap(({ params }) => idAt(params, access.person) ?? [])
  const tenancies = personIds.length > 0 ? await findPersonTenancies(sql, personIds) : new Map()
  return calls.map(({ ctx: { caller }, params }) => {
    if (isPlatformAdmin(caller)) return undefined
    const kind =
      caller.role === 'geosite_admin' ? 'geo' : caller.role === 'whitelabel_admin' ? 'whitelabel' : undefined
    if (kind === undefined || !access.kinds.includes(kind))
      return forbidden(access.site ?? access.person ?? '')
    for (const { field, name } of sitesIn(params, access)) {
      const site = sites.get(name)
      if (!site || !isSiteAdmin(caller, site)) return forbidden(field)
    }
    const person = idAt(params, access.person)
    if (person === undefined) return undefined
    const tenancy = tenancies.get(Number(person))
    return tenancy && isSiteAdmin(caller, tenancy) ? undefined : forbidden(access.person ?? '')
  })
}

/** The sites that a call names: one by its id, a region by its code or domain. */
function sitesIn(params: unknown, access: RuleOf<'siteAdmin'>): { field: string; name: string }[] {
  const id = idAt(params, access.site)
  const code = at(params, access.geoSite) as string | undefined
  return [
    ...(id === undefined ? [] : [{ field: access.site ?? '', name: `id ${id}` }]),
    ...(code === undefined ? [] : [{ field: access.geoSite ?? '', name: `geo ${code}` }]),
  ]
}
