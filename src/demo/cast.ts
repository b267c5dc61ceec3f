/**
 * Who appears in the demo: sites, people with keys, strategies, and twenty followers with everything that makes
 * mirroring interesting (the others are in `crowd.ts`): rounding, caps, late joiners, one who does not join what is
 * held, one who lets positions run out, two who stop. Dates are trade dates; what they name happens an hour before
 * the open. Rules that look far back look once a week: a day that nobody orders on costs a first start nothing.
 */
import { type Day, readDay } from '../domain/time.ts'
import { fallingKnives, givingUp, martingale } from './risky-rules.ts'
import { buyAndHold, meanReversion, monthlyRebalance, type Rule, trend200, weekly } from './rules.ts'
import { breakout, euroBand, goldChannel, goldenCross, turnOfQuarter } from './trend-rules.ts'

export type StrategyName =
  | 'hold'
  | 'trend'
  | 'rebalance'
  | 'reversion'
  | 'golden'
  | 'breakout'
  | 'breakoutAgain'
  | 'martingale'
  | 'knives'
  | 'turn'
  | 'gold'
  | 'euro'

export interface StrategyPart {
  readonly key: StrategyName
  readonly name: string
  readonly capital: number
  readonly startsOn: string
  readonly rule: Rule
  /** What its followers must allow; stocks where it is absent. */
  readonly trades?: 'futures' | 'forex'
  /** Its owner has everything closed at this day's open and ends it a week later. */
  readonly endsOn?: string
}

/** An owner who gives up: the rule ends with the day. */
const ended = (part: StrategyPart & { readonly endsOn: string }): StrategyPart => ({
  ...part,
  rule: givingUp(part.rule, dayOf(part.endsOn)),
})

/** Twelve records: two that ended, one of them begun again under a new name, and one martingale. */
export const strategyParts: readonly StrategyPart[] = [
  { key: 'hold', name: 'Buy and hold SPX', capital: 100_000, startsOn: '2000-01-03', rule: buyAndHold },
  {
    key: 'trend',
    name: '200-day trend SPX',
    capital: 100_000,
    startsOn: '2000-01-03',
    rule: weekly(trend200),
  },
  ended({
    key: 'breakout',
    name: 'Breakout SPX',
    capital: 100_000,
    startsOn: '2000-06-01',
    rule: weekly(breakout),
    endsOn: '2002-10-10',
  }),
  {
    key: 'golden',
    name: 'Golden cross SPX',
    capital: 100_000,
    startsOn: '2001-01-02',
    rule: weekly(goldenCross),
  },
  {
    key: 'breakoutAgain',
    name: 'Breakout SPX, new start',
    capital: 100_000,
    startsOn: '2003-06-02',
    rule: weekly(breakout),
  },
  {
    key: 'rebalance',
    name: 'Monthly rebalance SPX AAPL',
    capital: 250_000,
    startsOn: '2007-04-24',
    rule: monthlyRebalance,
  },
  {
    key: 'martingale',
    name: 'Doubling down AAPL',
    capital: 150_000,
    startsOn: '2007-05-01',
    rule: weekly(martingale),
  },
  ended({
    key: 'knives',
    name: 'Falling knives SPX',
    capital: 100_000,
    startsOn: '2007-10-01',
    rule: fallingKnives,
    endsOn: '2009-03-09',
  }),
  {
    key: 'reversion',
    name: 'Mean reversion SPX',
    capital: 100_000,
    startsOn: '2009-03-09',
    rule: meanReversion,
  },
  {
    key: 'turn',
    name: 'Turn of the quarter SPX',
    capital: 100_000,
    startsOn: '2016-01-04',
    rule: turnOfQuarter,
  },
  {
    key: 'gold',
    name: 'Gold channel (synthetic prices)',
    capital: 100_000,
    startsOn: '2018-01-02',
    rule: weekly(goldChannel),
    trades: 'futures',
  },
  {
    key: 'euro',
    name: 'Euro band (synthetic prices)',
    capital: 50_000,
    startsOn: '2018-01-02',
    rule: weekly(euroBand),
    trades: 'forex',
  },
]

/** A day of the cast. Throws on a text that is none. */
export function dayOf(text: string): Day {
  const day = readDay(text)
  if (day === undefined) throw new RangeError(`the cast names the day ${text}`)
  return day
}

export interface FollowPart {
  readonly strategy: StrategyName
  readonly percent: number
  readonly from: string
  readonly maxDollars?: number
  /** Leaves alone what the strategy holds when it is joined. */
  readonly doesNotJoin?: boolean
  /** From this day on stocks are switched off: positions end with the strategy's, none begin. */
  readonly closingFrom?: string
  readonly until?: string
  readonly leavesOpen?: boolean
}

export interface FollowerPart {
  readonly name: string
  readonly account: string
  readonly cash: string
  readonly isOfPartner?: boolean
  readonly follows: readonly FollowPart[]
}

/** How somebody follows a strategy, from the day on which it starts unless another is named. */
const following =
  (strategy: StrategyName, from: string) =>
  (percent: number, more: Partial<FollowPart> = {}): FollowPart => ({ strategy, percent, from, ...more })
const hold = following('hold', '2000-01-03')
const trend = following('trend', '2000-01-03')
const rebalance = following('rebalance', '2007-04-24')
const reversion = following('reversion', '2009-03-09')

/** The investor of the demo; his account follows the trend. */
export const investorPart: FollowerPart = {
  name: 'Ines Investor',
  account: 'PAPER-1000',
  cash: '100000',
  follows: [trend(50, { from: '2015-06-01' })],
}

export const followerParts: readonly FollowerPart[] = [
  { name: 'Ana Ortiz', account: 'PAPER-1001', cash: '100000', follows: [hold(100)] },
  { name: 'Ben Fischer', account: 'PAPER-1002', cash: '60000', follows: [hold(50)] },
  { name: 'Chloe Martin', account: 'PAPER-1003', cash: '25000', follows: [hold(1)] },
  { name: 'Dev Patel', account: 'PAPER-1004', cash: '60000', follows: [hold(33), trend(25)] },
  { name: 'Elena Rossi', account: 'PAPER-1005', cash: '30000', follows: [hold(100, { maxDollars: 10_000 })] },
  { name: 'Finn Larsen', account: 'PAPER-1006', cash: '150000', follows: [trend(150)] },
  { name: 'Grace Kim', account: 'PAPER-1007', cash: '50000', follows: [trend(100, { maxDollars: 20_000 })] },
  { name: 'Hugo Silva', account: 'PAPER-1008', cash: '25000', follows: [trend(17)] },
  { name: 'Iris Novak', account: 'PAPER-1009', cash: '90000', follows: [trend(75, { from: '2004-06-01' })] },
  {
    name: 'Jonas Weber',
    account: 'PAPER-1010',
    cash: '110000',
    follows: [trend(90, { from: '2006-03-01', doesNotJoin: true })],
  },
  { name: 'Kim Tran', account: 'PAPER-1011', cash: '700000', follows: [trend(400), rebalance(100)] },
  { name: 'Lucia Marin', account: 'PAPER-1012', cash: '250000', follows: [rebalance(100)] },
  { name: 'Mats Berg', account: 'PAPER-1013', cash: '120000', follows: [rebalance(37)] },
  {
    name: 'Nadia Haddad',
    account: 'PAPER-1014',
    cash: '60000',
    follows: [rebalance(50, { maxDollars: 15_000 })],
  },
  {
    name: 'Omar Khan',
    account: 'PAPER-1015',
    cash: '70000',
    follows: [rebalance(25, { until: '2010-09-15' })],
  },
  {
    name: 'Petra Vogel',
    account: 'PAPER-1016',
    cash: '120000',
    follows: [rebalance(45, { until: '2011-03-15', leavesOpen: true })],
  },
  {
    name: 'Quinn Moore',
    account: 'PAPER-1017',
    cash: '100000',
    isOfPartner: true,
    follows: [reversion(100)],
  },
  { name: 'Rosa Blanco', account: 'PAPER-1018', cash: '30000', isOfPartner: true, follows: [reversion(29)] },
  {
    name: 'Sam Clarke',
    account: 'PAPER-1019',
    cash: '75000',
    isOfPartner: true,
    follows: [reversion(60, { closingFrom: '2015-01-05' }), trend(10)],
  },
  {
    name: 'Tara Singh',
    account: 'PAPER-1020',
    cash: '100000',
    isOfPartner: true,
    follows: [reversion(3), trend(80), hold(10)],
  },
]
