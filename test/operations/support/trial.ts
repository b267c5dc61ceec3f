/**
 * Sends bad input and judges the answers: what is wrong is refused with its name, what is merely strange is
 * read, nothing ends in a 500 or tells of the inside, and what was refused leaves no trace but that it was denied.
 */
import {
  type Dialect,
  type HostName,
  hostNames,
  type OperationName,
  type Route,
  routesOf,
  rows,
} from '../../../src/contract/index.ts'
import type { Row } from '../../../src/contract/row.ts'
import { isKnownTo, type Members } from '../../../src/contract/schema.ts'
import type { Database } from '../../../src/storage/database/database.ts'
import { fragment, identifier, join } from '../../../src/storage/database/sql.ts'
import { type Answer, faultsOf } from '../../support/http.ts'
import type { Expectation } from './mutations.ts'
import { apple, holderAccount, kycInfo, oneAtLimit, symbolMember, type Town } from './town.ts'

type Example = Record<string, unknown>

/** A good call of each operation. */
export function goodCalls(town: Town, dialect: Dialect) {
  const { people, strategyId, lonelyStrategyId, signals, sites, watchListId, userToken } = town
  const { personId } = people.holder
  const ofHolder = { Account: holderAccount, PersonId: personId }
  const order = {
    StrategyId: strategyId,
    ...oneAtLimit,
    [symbolMember(dialect)]: apple,
  }
  const onList = {
    PersonId: personId,
    ModificationSource: 'MEMBER',
    ModificationAction: 'ADD',
    StrategyId: strategyId,
  }
  const good: Readonly<Record<OperationName, Example>> = {
    Hello: { Name: 'x' },
    GetAccessKey: {},
    GetBrokers: {},
    GetSupportedSymbols: {},
    AddStrategy: { StrategyName: 'new', StartingCapital: 1 },
    GetAutotraders: { StrategyId: strategyId },
    NewStrategyOrder: { Order: order },
    ReplaceStrategyOrder: { Order: { ...order, CancelReplaceSignalId: signals.filled } },
    CancelStrategyOrder: { StrategyId: strategyId, SignalId: signals.filled },
    GetStrategyHistoricalClosedTrades: { StrategyId: strategyId },
    SetDesiredPositions: {
      StrategyId: lonelyStrategyId,
      Positions: [{ Quantity: 1, [symbolMember(dialect)]: apple }],
    },
    GetStrategyActiveOrders: { StrategyIds: strategyId },
    GetStrategyOpenPositions: { StrategyIds: strategyId },
    GetStrategyHistoricalOrders: { StrategyId: strategyId },
    GetAutotradedStrategies: { PersonId: personId },
    GetAutotradeSettings: { PersonId: personId },
    GetAutotradeActiveOrders: ofHolder,
    GetAutotradeHistoricalOrders: ofHolder,
    GetAutoTradeOpenPositions: { Account: holderAccount },
    StartAutotrade: { ...ofHolder, StrategyId: strategyId, StocksEnabled: true },
    SetAutotradeSettings: { ...ofHolder, IsAutoSyncEnabled: true },
    GetDashBoard: ofHolder,
    SearchAccounts: {},
    SearchAutotradedAccounts: { StrategyId: strategyId },
    GetAutotradeStats: {},
    GetPendingAccounts: {},
    ApprovedAutotradeAccount: { ...ofHolder, BrokerId: 1 },
    DeleteApprovedAutotradeAccount: ofHolder,
    ApprovedBrokerTransmitAccount: { ...ofHolder, Account: 'OTHER', BrokerId: 1 },
    DeleteApprovedBrokerTransmitAccount: ofHolder,
    NewAutotradeOrder: { ...ofHolder, Order: { ...order, Side: '2', Limit: 500 } },
    CancelAutotradeOrder: { ...ofHolder, OrderId: 'x' },
    ReplaceAutotradeOrder: { ...ofHolder, OrderId: 'x', Price: 1 },
    ResetPaperTrade: ofHolder,
    GetAutotradeApprovalStatus: { RequestId: 'x' },
    StartSim: { PersonId: personId, StrategyIds: [999] },
    StopSim: { PersonId: personId, StrategyId: strategyId },
    GetSimResults: {},
    StopAutotrade: { ...ofHolder, StrategyId: lonelyStrategyId },
    GetProfile: { PersonId: personId },
    GetPhoneAlreadyExists: { Phone: '+12125550123' },
    GetGeoSites: {},
    SearchProfiles: { WhiteLabelSiteId: sites.west },
    GetWhiteLabelSiteUsers: { WhiteLabelSiteId: sites.west },
    GetGeoSiteUsers: { GeoSite: 'north' },
    AddProfile: {
      FirstName: 'A',
      LastName: 'B',
      ScreenName: 'C',
      Email: 'a@example.org',
      Password: 'long enough words',
      Language: 'eng',
      CountryCode: 'US',
      DivisionCode: 'NY',
    },
    GetKYCInfo: { UserToken: userToken },
    GetKYCScore: { UserToken: userToken, PersonId: personId },
    UpdateKYCScore: { UserToken: userToken, Score: 1 },
    AddKYCInfo: { UserToken: userToken, ...kycInfo },
    GetWatchLists: { PersonId: personId },
    GetWatchListMembers: { PersonId: personId, WatchListId: watchListId },
    ManageWatchList: { ...onList, WatchListId: watchListId },
    ManageWatchListByQuery: { ...onList, WatchListId: watchListId },
    UpdateProfile: { PersonId: personId },
    GetStrategyDetails: { StrategyId: strategyId },
    SearchStrategies: { StrategyName: 'Tr' },
    GetLeaderBoard: { SecurityType: 'CS' },
    GetSubscribers: { StrategyId: strategyId },
    GetSubscriptionRevenue: { StrategyId: strategyId },
    UpdateStrategy: { StrategyId: strategyId },
    GetStrategyHistoricalEquity: { StrategyId: strategyId },
    GetStrategyHistoricalDailyEquity: { StrategyId: strategyId },
    SyncPositionsToOpen: ofHolder,
    GetAutotradeSyncStatusReport: ofHolder,
    GetSubscribedStrategies: { PersonId: personId },
    GetInvestorPlanSubscriptions: { PersonId: personId },
    GetManagerPlanSubscriptions: { PersonId: personId },
    GetAutotradePlans: { WhiteLabelSiteId: sites.west },
    GetSiteCatalog: { WhiteLabelSiteId: sites.west },
    UpdateSiteCatalog: { WhiteLabelSiteId: sites.west, Action: 'Add', StrategyIds: [strategyId] },
    GetWlInstrumentationExport: { WhiteLabelSiteId: sites.west },
    GetRule575Status: { WhiteLabelSiteId: sites.west },
    GetStrategyMuxStatus: { WhiteLabelSiteId: sites.west },
  }
  return good
}

/** An operation on a host, with a good call and the key of somebody who may make it. */
export interface Target extends Route {
  readonly host: HostName
  readonly name: OperationName
  readonly key: string
  readonly example: Example
  readonly members: Members
}

/** Every operation on each of its hosts. */
export function targetsOf(town: Town, dialect: Dialect, hosts: readonly HostName[] = hostNames): Target[] {
  const good = goodCalls(town, dialect)
  return hosts.flatMap((host) =>
    routesOf(host, dialect).map((route): Target => {
      const { operation: name, row } = route
      const example = good[name]
      const { rule } = rows[name].access
      const isHolders = rule.startsWith('person') || name.includes('utotrade')
      const { key } =
        rule === 'siteAdmin' ? town.people.operator : isHolders ? town.people.holder : town.people.owner
      const path = `/${host.toLowerCase()}${route.path}`
      return { ...route, host, name, path, key, example, members: membersFor(row, host, dialect) }
    }),
  )
}

const membersFor = (row: Row, host: HostName, dialect: Dialect): Members =>
  Object.fromEntries(Object.entries(row.params).filter(([, field]) => isKnownTo(field, { host, dialect })))

export interface Sent {
  readonly what: string
  /** The parameter that a refusal must name. */
  readonly names: string
  readonly expected: Expectation | 'any'
  send(): Promise<Answer>
}

const kept = ['schema_migration', 'lease', 'rate_window']

/** Everything that is stored but that something was denied, as one text: rows and the youngest transaction of each table. */
async function digest({ read }: Database): Promise<string> {
  const tables = await read.rows<{ name: string }>`
    select tablename as name from pg_tables where schemaname = 'public' and tablename <> all(${kept}::text[]) order by 1`
  const counts = tables.map(
    ({ name }) =>
      fragment`select ${name}::text as name, count(*)::int as rows, max(xmin::text::bigint) as youngest
        from ${identifier(name)} ${name === 'audit_entry' ? fragment`where object <> 'denied'` : fragment``}`,
  )
  return JSON.stringify(await read.rows`select * from (${join(counts, ' union all ')}) stored order by name`)
}

const insides = /select |insert |\.ts:\d|at .*\(|pg_|constraint/i

/** What is wrong with an answer; undefined when nothing is. */
function complaint({ what, names, expected }: Sent, answer: Answer): string | undefined {
  const said = `${what.slice(0, 160)}: ${answer.status} ${answer.text.slice(0, 300)}`
  const faults = faultsOf(answer)
  if (![200, 304, 400, 403, 404, 409, 503].includes(answer.status)) return said
  if (answer.status >= 400 && faults.length === 0) return `no fault is named: ${said}`
  if (answer.status >= 400 && insides.test(answer.text)) return `it tells too much: ${said}`
  if (expected === 'any') return undefined
  if (expected === 'refused') {
    const fields = faults.map((fault) => fault.split(' ')[1] ?? '')
    // A whole query or body that cannot be decoded names no parameter.
    const isNamed = fields.some(
      (field) => field === '' || field === 'Body' || field.startsWith(names) || names.startsWith(field),
    )
    return answer.status === 400 && isNamed ? undefined : `not refused: ${said}`
  }
  // A well-formed value may still be needed, be off the tick, differ from what it replaces, or name nothing.
  const meant = /multiple of the tick|cannot change it|has no such signal/
  const isMeant = what.endsWith('= null') || meant.test(answer.text)
  const isBlamed = faults.some((fault) => fault === `1130 ${names}` || fault === `1102 ${names}`)
  return answer.status === 400 && isBlamed && !isMeant ? `refused: ${said}` : undefined
}

/** What is surely refused is looked after in groups: a digest costs more than the request. */
const groupMax = 20

/** Sends all and collects complaints; refused writes must leave everything as it was. */
export async function trial(db: Database, sent: readonly Sent[], isWrite: boolean): Promise<string[]> {
  const complaints: string[] = []
  let before = isWrite ? await digest(db) : ''
  let group: string[] = []
  const look = async (): Promise<void> => {
    const after = await digest(db)
    if (group.length > 0 && after !== before)
      complaints.push(`one of these left a trace: ${group.join('\n')}`)
    before = after
    group = []
  }
  for (const one of sent) {
    if (isWrite && group.length > 0 && (one.expected !== 'refused' || group.length >= groupMax)) await look()
    const answer = await one.send()
    const wrong = complaint(one, answer)
    if (wrong) complaints.push(wrong)
    if (!isWrite) continue
    if (answer.status >= 400) group.push(`${one.what.slice(0, 160)} ${answer.text}`)
    else before = await digest(db)
  }
  if (isWrite) await look()
  return complaints
}

/** A JSON text with the value at a path replaced; undefined takes it away. */
export function withValue(value: unknown, path: readonly string[], json: string | undefined): string {
  const [name, ...rest] = path
  if (Array.isArray(value)) return `[${withValue(value[0], rest, json)}]`
  const holder = (value ?? {}) as Example
  const members = Object.entries(holder).filter(([member, own]) => member !== name && own !== undefined)
  const others = members.map(([member, own]) => `${JSON.stringify(member)}:${JSON.stringify(own)}`)
  const inner = rest.length === 0 ? json : withValue(holder[name ?? ''], rest, json)
  return `{${[...others, ...(inner === undefined ? [] : [`${JSON.stringify(name)}:${inner}`])].join(',')}}`
}
