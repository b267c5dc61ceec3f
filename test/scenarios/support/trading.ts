/** Sentences in which owners act and brokers answer. */
import { call, resultsOf } from '../../support/http.ts'
import { expectSame, type Given, type Sentence } from './language.ts'
import {
  accountOrders,
  ask,
  door,
  named,
  type OrderRow,
  outcomeOf,
  type Stage,
  type Strategy,
  symbolOf,
} from './stage.ts'
import { numberOf, readTerms, sideOf } from './terms.ts'

/** Sends an order and remembers the signal under its label, or compares how it was refused. */
async function send(
  stage: Stage,
  strategy: Strategy,
  request: { path: string; method: string; order: Record<string, unknown> },
  outcome: string | undefined,
): Promise<void> {
  const { path, method, order } = request
  const answer = await ask(stage, strategy.owner.key, path, { method, body: { Order: order } })
  const [, label, target, loss] =
    /^signal ([\w-]+)(?: target ([\w-]+))?(?: loss ([\w-]+))?$/.exec(outcome ?? '') ?? []
  expectSame(label === undefined ? (outcome ?? '200') : '200', outcomeOf(answer))
  if (label === undefined) return
  const [row] = resultsOf<SignalIds>(answer)
  const remember = (name: string | undefined, signalId: number | undefined, sent: typeof order): void => {
    if (name === undefined) return
    if (signalId === undefined) throw new Error(`the answer names no signal for ${name}`)
    stage.signals.set(name, { signalId, strategy, order: sent })
  }
  remember(label, row?.SignalId, order)
  const { ProfitTarget, StopLoss, ParentSignalId: _, ParkedUntilDate: __, ...plain } = order
  const exit = { ...plain, Side: order.Side === '1' ? '2' : '1', TIF: '1', Limit: undefined, Stop: undefined }
  remember(target, row?.ProfitTargetSignalId, { ...exit, OrderType: '2', Limit: ProfitTarget })
  remember(loss, row?.StopLossSignalId, { ...exit, OrderType: '3', Stop: StopLoss })
  const isGroup = row?.ProfitTargetSignalId !== undefined && row.StopLossSignalId !== undefined
  expectSame(
    String(isGroup && order.DoNotCreateOCAGroup !== true),
    String(row?.ExitSignalsOCAGroupId !== undefined),
  )
}

interface SignalIds {
  readonly SignalId: number
  readonly ProfitTargetSignalId?: number
  readonly StopLossSignalId?: number
  readonly ExitSignalsOCAGroupId?: number
}

function place(stage: Stage, given: Given): Promise<void> {
  const strategy = named(stage.strategies, given.strategy)
  const order = {
    StrategyId: strategy.strategyId,
    Side: sideOf(given.side),
    OrderQuantity: numberOf(given.quantity),
    TIF: '0',
    ...readTerms(given.terms ?? '', (label) => named(stage.signals, label).signalId),
    PlatformSymbol: symbolOf(stage, given.symbol),
  }
  return send(stage, strategy, { path: '/Strategies/NewStrategyOrder', method: 'POST', order }, given.outcome)
}

/** A replacement repeats the whole order; what the sentence does not say stays. */
function replace(stage: Stage, given: Given): Promise<void> {
  const { signalId, strategy, order: before } = named(stage.signals, given.label)
  const { OpenClose: _, ProfitTarget: __, StopLoss: ___, ...kept } = before
  const order = {
    ...kept,
    ...(given.side === undefined ? {} : { Side: sideOf(given.side) }),
    ...(given.quantity === undefined ? {} : { OrderQuantity: numberOf(given.quantity) }),
    ...readTerms(given.terms ?? ''),
    CancelReplaceSignalId: signalId,
  }
  const request = { path: '/Strategies/ReplaceStrategyOrder', method: 'PUT', order }
  return send(stage, strategy, request, given.outcome)
}

async function cancel(stage: Stage, { label, outcome }: Given): Promise<void> {
  const { signalId, strategy } = named(stage.signals, label)
  const params = `?StrategyId=${strategy.strategyId}&SignalId=${signalId}`
  const path = `/Strategies/CancelStrategyOrder${params}`
  const answer = await ask(stage, strategy.owner.key, path, { method: 'DELETE' })
  expectSame(outcome ?? '200', outcomeOf(answer))
}

/** Gives a name to the order that waits for another one and that no answer has named. */
async function nameChild(stage: Stage, { label, word = '' }: Given): Promise<void> {
  const { signalId, strategy, order } = named(stage.signals, label)
  const path = `/Strategies/GetStrategyActiveOrders?StrategyIds=${strategy.strategyId}`
  const rows = resultsOf<OrderRow>(await ask(stage, strategy.owner.key, path))
  const known = [...stage.signals.values()].map((signal) => signal.signalId)
  const child = rows.find((row) => row.ParentSignalId === signalId && !known.includes(row.SignalId))
  if (!child) throw new Error(`nothing waits for signal ${label}`)
  stage.signals.set(word, { signalId: child.SignalId, strategy, order })
}

const unquoted = (text: string | undefined): string => (text ?? '').slice(1, -1)
const accountOf = (stage: Stage, name: string | undefined): string => named(stage.accounts, name).account

/** The account's last execution, at which the broker has second thoughts. */
async function lastExecution(stage: Stage, { account }: Given): Promise<string> {
  const { execId } = await stage.platform.db.read.one<{ execId: string }>`
    select e.exec_id as "execId" from execution e join account a on a.id = e.account_id
    where a.account = ${accountOf(stage, account)} order by e.executed_at desc, e.xid desc limit 1`
  return execId
}

/** A fill of one of the account's orders, whatever the market says. */
async function fillOrder(stage: Stage, { account, place: at, quantity, price }: Given): Promise<void> {
  const row = (await accountOrders(stage, named(stage.accounts, account)))[numberOf(at) - 1]
  if (!row) throw new Error('the account has no such order')
  await door(stage, '/broker', {
    execution: {
      account: accountOf(stage, account),
      symbol: row.PlatformSymbol.FullSymbol,
      side: row.Side,
      qty: numberOf(quantity),
      px: numberOf(price),
      clientOrderId: row.OrderId,
    },
  })
}

export const tradingSentences: readonly Sentence<Stage>[] = [
  { says: '<strategy> <side> <quantity> <symbol> <terms>[ -> <outcome>]', does: place },
  { says: 'replace signal <label> by <side> <quantity> <terms>[ -> <outcome>]', does: replace },
  { says: 'cancel signal <label>[ -> <outcome>]', does: cancel },
  {
    says: 'a stranger cancels signal <label> -> <outcome>',
    does: async (stage, { label, outcome }) => {
      const [stranger] = await door<{ key: string }[]>(stage, '/people', [
        { firstName: 'Mallory', lastName: 'M', email: 'mallory@example.org', role: 'user' },
      ])
      const { signalId, strategy } = named(stage.signals, label)
      const params = `?StrategyId=${strategy.strategyId}&SignalId=${signalId}`
      const answer = await call(stage.platform.url, `/gen/Strategies/CancelStrategyOrder${params}`, {
        method: 'DELETE',
        key: stranger?.key,
      })
      expectSame(outcome ?? '', outcomeOf(answer))
    },
  },
  { says: 'the child of signal <label> is signal <word>', does: nameChild },
  { says: 'broker holds its answers', does: (stage) => door(stage, '/broker', { hold: true }) },
  { says: 'broker answers', does: (stage) => door(stage, '/broker', { hold: false }) },
  { says: 'broker is down', does: (stage) => door(stage, '/broker', { down: true }) },
  { says: 'broker is up', does: (stage) => door(stage, '/broker', { down: false }) },
  {
    says: 'broker rejects the next order of <account> with <text>',
    does: (stage, { account, text }) =>
      door(stage, '/broker', { reject: { account: accountOf(stage, account), text: unquoted(text) } }),
  },
  {
    says: 'broker fills only <quantity> of the next order of <account>',
    does: (stage, { account, quantity }) =>
      door(stage, '/broker', { partial: { account: accountOf(stage, account), qty: numberOf(quantity) } }),
  },
  { says: 'broker fills <quantity> of order <place> of <account> @ <price>', does: fillOrder },
  {
    says: 'broker repeats the last execution of <account>',
    does: async (stage, given) => door(stage, '/broker', { duplicate: await lastExecution(stage, given) }),
  },
  {
    says: 'broker takes the last execution of <account> back',
    does: async (stage, given) => door(stage, '/broker', { bust: await lastExecution(stage, given) }),
  },
  {
    says: 'broker restricts <account> by <word> with <text>',
    does: (stage, { account, word: kind, text }) =>
      door(stage, '/broker', {
        restrict: { account: accountOf(stage, account), kind, text: unquoted(text) },
      }),
  },
  {
    says: 'broker lets go of <account>',
    does: (stage, { account }) => door(stage, '/broker', { delink: accountOf(stage, account) }),
  },
  {
    says: 'by hand in <account> <side> <quantity> <symbol> @ <price>',
    does: (stage, { side, quantity, symbol, price, account }) =>
      door(stage, '/broker', {
        execution: {
          account: accountOf(stage, account),
          symbol: symbolOf(stage, symbol).FullSymbol,
          side: sideOf(side),
          qty: numberOf(quantity),
          px: numberOf(price),
          clientOrderId: null,
        },
      }),
  },
]
