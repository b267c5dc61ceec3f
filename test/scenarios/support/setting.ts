/** Sentences that set the stage: time, instruments, strategies, accounts, who follows whom, and the market. */
import { expectSame, type Given, type Sentence } from './language.ts'
import { type Account, ask, door, named, outcomeOf, person, reset, type Stage, symbolOf } from './stage.ts'
import { numberOf } from './terms.ts'

const symbolTypes = { CS: 'stock', FUT: 'future', OPT: 'option', FOR: 'forex' } as const

/** What a follower wants: `at 50% futures max 3 stocks max 5000 without options, not joining`. */
function readSettings(text: string): Record<string, unknown> {
  const classes = { stocks: 'Stocks', futures: 'Futures', forex: 'Forex', options: 'Options' } as const
  const wish: Record<string, unknown> = {
    StocksEnabled: true,
    FuturesEnabled: true,
    ForexEnabled: true,
    OptionsEnabled: true,
    ShortOptionsEnabled: true,
  }
  const words = text.split(/[\s,]+/).filter((word) => word !== '')
  for (let place = 0; place < words.length; place += 1) {
    const word = words[place] as string
    const next = (): string => words[++place] ?? ''
    if (word === 'at') wish.ScalingPercentage = numberOf(next().replace('%', ''))
    else if (word === 'without') wish[`${classes[next() as keyof typeof classes]}Enabled`] = false
    else if (word === 'stop') wish.AutoStopLoss = numberOf(next())
    else if (word === 'unjoined') wish.DoNotJoinCurrentSystemPositions = true
    else if (word === 'long-options-only') wish.ShortOptionsEnabled = false
    else if (word in classes && next() === 'max') {
      const member = word === 'stocks' ? 'MaxStocksDollars' : `Max${classes[word as keyof typeof classes]}`
      wish[member] = numberOf(next())
    } else throw new Error(`a follower has no wish "${word}"`)
  }
  return wish
}

async function follow(stage: Stage, { account, strategy, terms, outcome }: Given): Promise<void> {
  const { account: number, holder } = named(stage.accounts, account)
  const { strategyId } = named(stage.strategies, strategy)
  const body = {
    Account: number,
    PersonId: holder.personId,
    StrategyId: strategyId,
    ...readSettings(terms ?? ''),
  }
  const answer = await ask(stage, holder.key, '/Autotrade/StartAutotrade', { body })
  expectSame(outcome ?? '200', outcomeOf(answer))
}

async function stop(stage: Stage, { account, strategy, outcome }: Given, leavesOpen: boolean): Promise<void> {
  const { account: number, holder } = named(stage.accounts, account)
  const { strategyId } = named(stage.strategies, strategy)
  const params = new URLSearchParams({
    Account: number,
    PersonId: String(holder.personId),
    StrategyId: String(strategyId),
    LeavePositionsOpen: String(leavesOpen),
  })
  const answer = await ask(stage, holder.key, `/Autotrade/StopAutotrade?${params}`, { method: 'DELETE' })
  expectSame(outcome ?? '200', outcomeOf(answer))
}

async function syncToOpen(stage: Stage, { account, outcome }: Given): Promise<void> {
  const { account: number, holder } = named(stage.accounts, account)
  const body = { Account: number, PersonId: holder.personId }
  const answer = await ask(stage, holder.key, '/Autotrade/SyncPositionsToOpen', { body })
  expectSame(outcome ?? '200', outcomeOf(answer))
}

async function openAccount(
  stage: Stage,
  { account = '', person: holder = '', cash, currency, kind }: Given,
): Promise<void> {
  const opened: Account = { account, holder: await person(stage, holder), seen: 0 }
  await door(stage, '/accounts', [
    {
      account,
      personId: opened.holder.personId,
      cash: numberOf(cash),
      ...(kind === undefined ? {} : { kind }),
      ...(currency === undefined ? {} : { currency }),
    },
  ])
  stage.accounts.set(account, opened)
}

async function addInstrument(stage: Stage, given: Given): Promise<void> {
  const {
    symbol = '',
    class: securityType = 'CS',
    native = symbol,
    points,
    tick,
    word: calendar,
    currency,
    time: lastTradingDay,
  } = given
  await door(stage, '/instruments', [
    {
      symbol: native,
      securityType,
      ...(points === undefined ? {} : { pointValue: numberOf(points) }),
      ...(tick === undefined ? {} : { tick: numberOf(tick) }),
      ...(calendar === undefined ? {} : { calendar }),
      ...(currency === undefined ? {} : { currency }),
      ...(lastTradingDay === undefined ? {} : { lastTradingDay }),
    },
  ])
  const symbolType = symbolTypes[securityType as keyof typeof symbolTypes]
  stage.instruments.set(symbol, { symbol: native, symbolType })
}

async function addStrategy(stage: Stage, { strategy = '', cash, person: owner = '' }: Given): Promise<void> {
  const { key, personId } = await person(stage, owner)
  const body = { StrategyName: strategy, StartingCapital: numberOf(cash) }
  const answer = await ask(stage, key, '/Strategies/AddStrategy', { body })
  expectSame('200', outcomeOf(answer))
  const { Results } = answer.json as { Results: { StrategyId: number }[] }
  stage.strategies.set(strategy, { strategyId: Results[0]?.StrategyId ?? 0, owner: { key, personId } })
}

const unitsMs: Readonly<Record<string, number>> = { s: 1000, m: 60_000, h: 3_600_000, d: 86_400_000 }

async function moveClock(stage: Stage, { time = '' }: Given): Promise<void> {
  const [, count, unit = ''] = /^\+(\d+)([smhd])$/.exec(time) ?? []
  const now = count === undefined ? Date.parse(time) : stage.now + Number(count) * (unitsMs[unit] ?? 0)
  await door(stage, '/clock', { now: new Date(now).toISOString() })
  stage.now = now
}

const announce = (stage: Stage, symbol: string | undefined, action: object): Promise<void> =>
  door(stage, '/corporate-actions', [{ ...action, symbol: symbolOf(stage, symbol).FullSymbol }])

export const settingSentences: readonly Sentence<Stage>[] = [
  { says: 'now <time>', does: (stage, { time = '' }) => reset(stage, time) },
  { says: 'now <time> with commissions', does: (stage, { time = '' }) => reset(stage, time, 'default') },
  { says: 'clock <time>', does: moveClock },
  {
    says: 'instrument <symbol> <class>[ as <native>][ point value <points>][ tick <tick>][ calendar <word>][ currency <currency>][ until <time>]',
    does: addInstrument,
  },
  { says: 'strategy <strategy> capital <cash> by <person>', does: addStrategy },
  { says: 'account <account> of <person> cash <cash>[ currency <currency>]', does: openAccount },
  {
    says: 'paper account <account> of <person> cash <cash>',
    does: (stage, given) => openAccount(stage, { ...given, kind: 'paper' }),
  },
  { says: '<account> follows <strategy>[ <terms>][ -> <outcome>]', does: follow },
  { says: '<account> syncs positions to open[ -> <outcome>]', does: syncToOpen },
  { says: '<account> stops <strategy>[ -> <outcome>]', does: (stage, given) => stop(stage, given, false) },
  {
    says: '<account> stops <strategy> leaving its positions[ -> <outcome>]',
    does: (stage, given) => stop(stage, given, true),
  },
  {
    says: 'quote <symbol> <bid> / <ask>[ sizes <bidSize> x <askSize>]',
    does: async (stage, { symbol, bid, ask: price, bidSize, askSize }) => {
      const sizes = bidSize === undefined ? {} : { bidSize: numberOf(bidSize), askSize: numberOf(askSize) }
      const { FullSymbol } = symbolOf(stage, symbol)
      await door(stage, '/quotes', [
        { symbol: FullSymbol, bid: numberOf(bid), ask: numberOf(price), ...sizes },
      ])
    },
  },
  {
    says: 'dividend of <amount> on <symbol> at <time>',
    does: (stage, { amount, symbol, time }) =>
      announce(stage, symbol, { kind: 'dividend', date: time, amount: numberOf(amount) }),
  },
  {
    says: 'split of <symbol> <new> for <old> at <time>',
    does: (stage, { symbol, time, new: units, old }) =>
      announce(stage, symbol, { kind: 'split', date: time, new: numberOf(units), old: numberOf(old) }),
  },
  {
    says: 'delisting of <symbol> at <time>',
    does: (stage, { symbol, time }) => announce(stage, symbol, { kind: 'delisting', date: time }),
  },
  {
    says: 'settlement of <symbol> <amount> at <time>',
    does: (stage, { symbol, amount, time }) =>
      announce(stage, symbol, { kind: 'settlement', date: time, amount: numberOf(amount) }),
  },
  {
    says: 'bar <symbol> <time> open <open> high <high> low <low> close <close>[ volume <volume>]',
    does: async (stage, { symbol, time, open, high, low, close, volume }) => {
      const prices = { o: numberOf(open), h: numberOf(high), l: numberOf(low), c: numberOf(close) }
      const { FullSymbol } = symbolOf(stage, symbol)
      const size = volume === undefined ? {} : { v: numberOf(volume) }
      await door(stage, '/bars', [{ symbol: FullSymbol, t: time, ...prices, ...size }])
    },
  },
]
