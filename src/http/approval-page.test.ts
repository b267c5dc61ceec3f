/** What the page of a request says; how it looks and is used is tried in a browser. */
import { describe, expect, test } from 'vitest'
import type { ApprovalView } from '../operations/approvals.ts'
import { approvalPage } from './approval-page.ts'

const choices: ApprovalView['choices'] = {
  scalingPercentage: 50,
  stocksEnabled: true,
  maxStocksDollars: 25_000,
  optionsEnabled: false,
  optionsShort: false,
  maxOptions: null,
  futuresEnabled: false,
  maxFutures: null,
  forexEnabled: false,
  maxForex: null,
  autoStopLossDollars: 0,
  joinsPositions: null,
}
const open: ApprovalView = {
  status: 'PendingCustomer',
  choices,
  expiresAt: Date.UTC(2024, 2, 19, 14),
  failure: null,
  strategyName: 'Trend',
  account: 'U1',
  brokerName: 'Scripted',
  firstName: 'Ada',
  siteName: 'West',
  accountKind: 'live',
  accountCurrency: 'USD',
  price: null,
  priceFrom: null,
  feePercent: 0,
  laterFeePercent: 0,
  isFollowing: false,
  isSyncEnabled: true,
  hasLapsed: false,
}
const done: ApprovalView = { ...open, status: 'Completed', isFollowing: true }
const nothingEnabled = { choices: { ...choices, stocksEnabled: false } }

/** The lines of the page as `name: what it says`. */
function factsOf(changes: Partial<ApprovalView>): string[] {
  const facts = approvalPage({ ...open, ...changes }).matchAll(/<dt>(.*)<\/dt><dd>(.*)<\/dd>/g)
  return [...facts].map(([, name, value]) => `${name}: ${value?.replace(/<\/?bdi>/g, '')}`)
}
const choosing = (changes: Partial<ApprovalView['choices']>) =>
  factsOf({ choices: { ...choices, ...changes } })

describe('an open request', () => {
  test('names what is asked and how far it goes, and nothing that does not concern it', () => {
    expect(factsOf({})).toEqual([
      'Strategy: Trend',
      'Account: U1 at Scripted',
      'Size: 50 % of the strategy’s orders',
      'Stocks: at most 25,000 dollars in one position; of a stock in another currency, as many of that one',
      'Options: no',
      'Futures: no',
      'Forex: no',
    ])
  })

  test.each<[string, Partial<ApprovalView['choices']>, string]>([
    ['options', { optionsEnabled: true }, 'Options: yes, without a limit'],
    ['options that are bought alone', { optionsEnabled: true }, 'Short options: no'],
    ['options that are sold', { optionsEnabled: true, optionsShort: true }, 'Short options: yes'],
    [
      'forex',
      { forexEnabled: true, maxForex: 5 },
      'Forex: at most 5 thousands of a currency in one position',
    ],
    ['a stop', { autoStopLossDollars: 1500 }, 'Stop loss: at a loss of 1,500 USD in one position'],
    ['a late start', { joinsPositions: false }, 'Positions the strategy holds now: are not joined'],
    [
      'what is traded at once',
      { joinsPositions: true },
      'Positions the strategy holds now: are joined at the market, at once or when it opens',
    ],
  ])('tells of %s', (_, changes, line) => {
    expect(choosing(changes)).toContain(line)
  })

  test('counts a stop in the currency of the account', () => {
    expect(factsOf({ accountCurrency: 'JPY', choices: { ...choices, autoStopLossDollars: 1500 } })).toContain(
      'Stop loss: at a loss of 1,500 JPY in one position',
    )
  })

  test('says what nothing is joined without', () => {
    expect(factsOf({ isSyncEnabled: false, choices: { ...choices, joinsPositions: true } })).toContain(
      'Positions the strategy holds now: are joined at the market when AutoSync of the account is switched on',
    )
  })

  test('promises no position where nothing may be opened', () => {
    const lines = choosing({ stocksEnabled: false, joinsPositions: true })
    expect(lines.filter((line) => line.startsWith('Positions'))).toEqual([])
  })

  test('tells who follows already that other settings end', () => {
    expect(approvalPage({ ...open, isFollowing: true })).toContain(
      'asks you to change how the orders of a strategy are copied into your account. What is set now ends with a yes',
    )
    expect(approvalPage(open)).toContain('asks you to let the orders of a strategy be copied')
    expect(approvalPage(open)).not.toContain('What is set now')
  })

  test.each<[string, Partial<ApprovalView>, string]>([
    [
      'now',
      { price: '49.00 USD' },
      'Price: 49.00 USD now and every 30 days, until the subscription is ended',
    ],
    [
      'later',
      { price: '49.00 USD', priceFrom: open.expiresAt },
      'Price: 49.00 USD every 30 days from 2024-03-19 14:00 UTC on, until the subscription is ended',
    ],
    [
      'of gains',
      { feePercent: 20, laterFeePercent: 20 },
      'Fee on gains: 20 % of what the account gains with the strategy',
    ],
    [
      'of gains that will be more',
      { feePercent: 0, laterFeePercent: 20 },
      'Fee on gains: 0 % of what the account gains with the strategy, and 20 % from the next term on',
    ],
    [
      'of gains that will be less',
      { feePercent: 20, laterFeePercent: 10 },
      'Fee on gains: 20 % of what the account gains with the strategy, and 10 % from the next term on',
    ],
  ])('tells what is charged %s', (_, changes, line) => {
    expect(factsOf(changes)[2]).toBe(line)
  })

  test.each([
    ['live', 'Real orders follow'],
    ['paper', 'Orders without real money follow'],
    ['sim', 'Orders without real money follow'],
  ] as const)('of a %s account says what follows a yes', (accountKind, words) => {
    expect(approvalPage({ ...open, accountKind })).toContain(words)
  })

  test('promises orders where forex alone is enabled, and none where nothing is', () => {
    const forex = { choices: { ...nothingEnabled.choices, forexEnabled: true } }
    expect(approvalPage({ ...open, ...forex })).toContain('Real orders follow')
    expect(approvalPage({ ...open, ...nothingEnabled })).toContain('Approving alone copies nothing')
  })

  test('says that its costs have changed only to whom has answered', () => {
    expect(approvalPage(open, true)).toContain('What it costs has changed')
    expect(approvalPage(open)).not.toContain('What it costs has changed')
  })

  test('takes names for text, without marks that turn what stands around them', () => {
    const html = approvalPage({ ...open, strategyName: '<b>\u2067evil\u2069', firstName: '<i>' })
    expect(html).not.toMatch(/<b>|<i>/)
    expect(html).toContain('<h1>Approve <bdi>&lt;b&gt;evil</bdi>?</h1>')
  })
})

describe('a request that has ended', () => {
  test.each<[string, ApprovalView, string]>([
    ['is followed', done, 'copied into the account from now on'],
    ['was stopped since', { ...done, isFollowing: false }, 'has been stopped since'],
    [
      'waits for its payment',
      { ...done, hasLapsed: true },
      'before the subscription to the strategy is paid',
    ],
    ['copies nothing', { ...done, ...nothingEnabled }, 'all switched off'],
    ['waits for the broker', { ...open, status: 'PendingBroker' }, 'five to ten business days.</p>'],
    ['will copy nothing', { ...open, status: 'PendingBroker', ...nothingEnabled }, 'days. Stocks, options'],
    [
      'has failed',
      { ...open, status: 'Failed', failure: 'the <broker> is away' },
      'Reason: the &lt;broker&gt; is away</p>',
    ],
    ['was replaced', { ...open, status: 'Superseded' }, 'A newer one has taken its place'],
  ])('and %s says so', (_, view, words) => {
    const html = approvalPage(view)
    expect(html).toContain(words)
    expect(html).not.toContain('<form')
  })

  test('gives a reason only where it has failed', () => {
    expect(approvalPage({ ...done, failure: 'none' })).not.toContain('Reason')
  })
})
