/** Sentences that look: at positions, signals, account orders, money, and at the soundness of the books. */
import { call, resultsOf } from '../../support/http.ts'
import { expectSame, type Given, type Sentence } from './language.ts'
import {
  accountOrders,
  ask,
  door,
  findSignalRow,
  named,
  nameOf,
  type OrderRow,
  type PositionRow,
  positionsOf,
  type Stage,
  symbolOf,
} from './stage.ts'
import { numberOf, readTerms, sideName, toldState, toldTerms } from './terms.ts'

const unquoted = (text: string | undefined): string | undefined => text?.slice(1, -1)

function toldPosition(stage: Stage, rows: readonly PositionRow[], price: string | undefined): string {
  if (rows.length === 0) return 'flat'
  return rows
    .map(({ Quantity, AvgPx, PlatformSymbol }) => {
      const average = price === undefined ? '' : ` @ ${AvgPx}`
      const direction = Quantity > 0 ? 'long' : 'short'
      return `${direction} ${Math.abs(Quantity)} ${nameOf(stage, PlatformSymbol.FullSymbol)}${average}`
    })
    .join(', ')
}

async function seePosition(stage: Stage, given: Given): Promise<void> {
  const { who = '', direction, quantity, symbol = '', price } = given
  const { FullSymbol } = symbolOf(stage, symbol)
  const rows = (await positionsOf(stage, who)).filter((row) => row.PlatformSymbol.FullSymbol === FullSymbol)
  const average = price === undefined ? '' : ` @ ${numberOf(price)}`
  expectSame(`${direction} ${numberOf(quantity)} ${symbol}${average}`, toldPosition(stage, rows, price))
}

async function seeFlat(stage: Stage, { who = '', symbol }: Given): Promise<void> {
  const all = await positionsOf(stage, who)
  const wanted = symbol === undefined ? undefined : symbolOf(stage, symbol).FullSymbol
  const rows = all.filter((row) => wanted === undefined || row.PlatformSymbol.FullSymbol === wanted)
  expectSame('flat', toldPosition(stage, rows, undefined))
}

/** What the sentence states of a state, and as much of what the row says. */
function compareState(row: OrderRow, given: Given): void {
  const { state, filled, total, price } = given
  const text = unquoted(given.text)
  const expected = [
    state,
    ...(filled === undefined ? [] : [`${numberOf(filled)} of ${numberOf(total)}`]),
    ...(price === undefined ? [] : [`@ ${numberOf(price)}`]),
    ...(text === undefined ? [] : [`because "${text}"`]),
  ].join(' ')
  expectSame(expected, toldState(row, { filled, price, text }))
}

const toldOrder = (stage: Stage, row: OrderRow, stated: Record<string, unknown>): string =>
  [
    sideName(row.Side),
    row.OrderQuantity,
    nameOf(stage, row.PlatformSymbol.FullSymbol),
    toldTerms(row, stated),
  ]
    .join(' ')
    .trim()

/** The account's next order that the story has not seen yet, in the order in which they were made. */
async function seeSent(stage: Stage, given: Given): Promise<void> {
  const account = named(stage.accounts, given.account)
  const row = (await accountOrders(stage, account))[account.seen]
  const stated = readTerms(given.terms ?? '')
  const expected = [given.side, numberOf(given.quantity), given.symbol, given.terms ?? ''].join(' ').trim()
  expectSame(expected, row ? toldOrder(stage, row, stated) : 'nothing')
  account.seen += 1
}

async function seeNothingSent(stage: Stage, { account: name }: Given): Promise<void> {
  const account = named(stage.accounts, name)
  const rows = (await accountOrders(stage, account)).slice(account.seen)
  const told = rows.map((row) => toldOrder(stage, row, { OrderType: '', TIF: '', OpenClose: '' }))
  expectSame('nothing', told.join(', ') || 'nothing')
}

async function seeAccountOrder(stage: Stage, given: Given): Promise<void> {
  const rows = await accountOrders(stage, named(stage.accounts, given.account))
  const row = rows[numberOf(given.place) - 1]
  if (!row) throw new Error(`the account has ${rows.length} orders`)
  compareState(row, given)
}

const liveStatuses = ['A', '0', '1', '6', 'E']

async function seeWorkingOrders(stage: Stage, { account, count }: Given): Promise<void> {
  const rows = await accountOrders(stage, named(stage.accounts, account))
  const live = rows.filter(({ OrderStatus }) => liveStatuses.includes(OrderStatus))
  if (live.length === numberOf(count)) return
  const told = live.map((row) => toldOrder(stage, row, { OrderType: '' }))
  expectSame(`${numberOf(count)} working orders`, [`${live.length} working orders`, ...told].join(', '))
}

async function seeSkip(stage: Stage, { account, label, word }: Given): Promise<void> {
  const rows = await stage.platform.db.read.rows<{ code: string }>`
    select s.code from account_skip s join account a on a.id = s.account_id
    where a.account = ${named(stage.accounts, account).account}
      and s.signal_id = ${named(stage.signals, label).signalId}`
  expectSame(word ?? '', rows.map(({ code }) => code).join(', ') || 'not skipped')
}

async function seeCash(stage: Stage, { who = '', cash }: Given): Promise<void> {
  const strategy = stage.strategies.get(who)
  const { cash: found } = strategy
    ? await stage.platform.db.read.one<{ cash: string }>`
        select round(cash, 2) as cash from strategy where id = ${strategy.strategyId}`
    : await stage.platform.db.read.one<{ cash: string }>`
        select round(cash, 2) as cash from account where account = ${named(stage.accounts, who).account}`
  expectSame(numberOf(cash).toFixed(2), found)
}

async function seeSync(stage: Stage, { account: name, text }: Given): Promise<void> {
  const { account, holder } = named(stage.accounts, name)
  const path = `/Autotrade/GetAutotradeSettings?PersonId=${holder.personId}&Account=${account}`
  const [row] = resultsOf<{ IsSyncEnabled: boolean; SyncDisabledReason?: string }>(
    await ask(stage, holder.key, path),
  )
  const found = row?.IsSyncEnabled ? 'on' : `off because ${row?.SyncDisabledReason}`
  expectSame(text === undefined ? 'on' : `off because ${unquoted(text)}`, found)
}

async function seeAutotrade(stage: Stage, { account: name, text }: Given): Promise<void> {
  const { account, holder } = named(stage.accounts, name)
  const path = `/Autotrade/GetAutotradeSettings?PersonId=${holder.personId}&Account=${account}`
  const [row] = resultsOf<{ IsAutotradeDisabled: boolean; IsAutotradeDisabledReason?: string }>(
    await ask(stage, holder.key, path),
  )
  const found = row?.IsAutotradeDisabled ? `off because ${row.IsAutotradeDisabledReason}` : 'on'
  expectSame(text === undefined ? 'on' : `off because ${unquoted(text)}`, found)
}

/** The account's line of the symbol in the report on AutoSync. */
async function seeInStep(stage: Stage, given: Given): Promise<void> {
  const { account, holder } = named(stage.accounts, given.account)
  const { FullSymbol } = symbolOf(stage, given.symbol)
  const path = `/geo/Autotrade/GetAutotradeSyncStatusReport?PersonId=${holder.personId}&Account=${account}`
  const rows = resultsOf<ReportRow>(await call(stage.platform.url, path, { key: holder.key }))
  const row = rows.find(({ PlatformSymbol }) => PlatformSymbol.FullSymbol === FullSymbol)
  const told = row
    ? `${row.AccountQuantity} of ${row.StrategyQuantity} ${row.InSync ? 'in' : 'out of'} sync because ${row.NotInSyncReason ?? 'nothing'}`
    : 'no line'
  const reason = given.reason ?? unquoted(given.text) ?? 'nothing'
  const place = given.is === 'in' ? 'in' : 'out of'
  expectSame(`${numberOf(given.held)} of ${numberOf(given.total)} ${place} sync because ${reason}`, told)
}

interface ReportRow {
  readonly AccountQuantity: number
  readonly StrategyQuantity: number
  readonly InSync: boolean
  readonly NotInSyncReason?: string
  readonly PlatformSymbol: { FullSymbol: string }
}

async function seePermission(stage: Stage, { account: name, group }: Given, isOn: boolean): Promise<void> {
  const { account, holder } = named(stage.accounts, name)
  const path = `/Autotrade/GetAutotradeSettings?PersonId=${holder.personId}&Account=${account}`
  const [row] = resultsOf<Record<string, unknown>>(await ask(stage, holder.key, path))
  expectSame(String(isOn), String(row?.[`WillSyncToOpen${group}`]))
  if (!isOn) expectSame('a time', row?.[`LastSync${group}`] === undefined ? 'never' : 'a time')
}

export async function seeSoundBooks(stage: Stage): Promise<void> {
  const { violations } = await door<{ violations: { rule: string; detail: string }[] }>(stage, '/audit')
  const told = violations.map(({ rule, detail }) => `${rule}: ${detail}`).join('; ')
  expectSame('sound books', told || 'sound books')
  expectSame('no errors', stage.platform.errors.join('\n') || 'no errors')
}

export const seeingSentences: readonly Sentence<Stage>[] = [
  { says: '<who> <direction> <quantity> <symbol>[ @ <price>]', does: seePosition },
  { says: '<who> flat[ <symbol>]', does: seeFlat },
  {
    says: 'signal <label> <state>[ <filled> of <total>][ @ <price>][ because <text>]',
    does: async (stage, given) =>
      compareState(await findSignalRow(stage, named(stage.signals, given.label)), given),
  },
  { says: '<account> sent <side> <quantity> <symbol>[ <terms>]', does: seeSent },
  { says: '<account> sent nothing', does: seeNothingSent },
  {
    says: '<account> order <place> <state>[ <filled> of <total>][ @ <price>][ because <text>]',
    does: seeAccountOrder,
  },
  { says: '<account> has <count> working orders', does: seeWorkingOrders },
  { says: '<account> skipped signal <label> because <word>', does: seeSkip },
  { says: '<who> cash <cash>', does: seeCash },
  { says: 'sync of <account> is on', does: seeSync },
  { says: 'autotrade of <account> is on', does: seeAutotrade },
  { says: 'autotrade of <account> is off because <text>', does: seeAutotrade },
  {
    says: 'sync permission of <account> for <group> is on',
    does: (stage, given) => seePermission(stage, given, true),
  },
  {
    says: 'sync permission of <account> for <group> is off',
    does: (stage, given) => seePermission(stage, given, false),
  },
  {
    says: '<account> has <symbol> <held> of <total> in sync[ because <reason>]',
    does: (stage, given) => seeInStep(stage, { ...given, is: 'in' }),
  },
  { says: '<account> has <symbol> <held> of <total> out of sync because <reason>', does: seeInStep },
  { says: '<account> has <symbol> <held> of <total> out of sync because <text>', does: seeInStep },
  { says: 'sync of <account> is off because <text>', does: seeSync },
  { says: 'audit clean', does: seeSoundBooks },
]
