/** The numbers, codes and times of the page on AutoSync are those of the functions that the product runs. */
import { expect, test } from 'vitest'
import { dec } from '../../src/domain/decimal.ts'
import { autoStopLoss } from '../../src/domain/mirror/auto-stop-loss.ts'
import type { NotInSyncReason } from '../../src/domain/mirror/mirror-sync-report.ts'
import { syncGroups } from '../../src/domain/mirror/sync-groups.ts'
import { type ApprovalStatus, approvalLife } from '../../src/domain/people/approval.ts'
import type { ExternalReason } from '../../src/domain/positions/external-activity.ts'
import { patience, watchedFor } from '../../src/execution/reports/reconciliation-gaps.ts'
import { driftGraceSeconds } from '../../src/storage/mirror/sync-cases.ts'
import { kernel } from '../support/kernel.ts'
import { codeIn, codesIn, numberIn, tablesUnder, tableUnder, textOf } from './page.ts'

const [compared = [], reasons = []] = tablesUnder('in-step', 'What is compared')

interface Line {
  readonly InSync: boolean
  readonly NotInSyncReason: string | null
}
type Act = { readonly action: string; readonly side: string; readonly qty: number }

/** What AutoSync finds and does for one symbol, in the words of the page. */
function told(row: (typeof compared)[number]): { report: string; does: string } {
  const words = (row.Settings ?? '').split(', ')
  const maximum = words.find((word) => word.startsWith('maximum'))?.split(' ')[1]
  const settings = {
    scalingPercentage: numberIn(words[0]),
    enabled: !words.includes('off'),
    ...(maximum !== undefined && { max: Number(maximum) }),
  }
  const { actions, report } = kernel('mirror.sync', {
    strategy: { positions: { ES: numberIn(row['Strategy holds']) }, orders: [], finishedSignals: {} },
    account: { positions: { ES: numberIn(row['You hold']) }, orders: [] },
    classes: { ES: 'FUT' },
    settings: { FUT: settings },
    willSyncToOpen: { FUT: row['May open'] === 'yes' },
    excludedSymbols: words.includes('left alone') ? ['ES'] : [],
    isSyncEnabled: !words.includes('AutoSync off'),
  }) as { actions: Act[]; report: [Line] }
  const [{ InSync, NotInSyncReason: reason }] = report
  const [act] = actions
  const does = act ? `${act.side === '1' ? 'buys' : 'sells'} ${act.qty}` : InSync ? 'nothing' : 'only tells'
  return { report: `${InSync ? 'in' : 'out of'} sync${reason ? `, \`${reason}\`` : ''}`, does }
}

test.each(compared)('$Settings with $Strategy holds: $Report', (row) => {
  expect(told(row)).toEqual({ report: row.Report, does: row.AutoSync })
})

test('every reason of the report is explained, as what it leads to', () => {
  const acts: Readonly<Record<NotInSyncReason, string>> = {
    Opening: 'buys',
    Reducing: 'sells',
    Reversing: 'sells',
    OrderPending: 'waits',
    SyncToOpenDisabled: 'only tells',
    SyncDisabled: 'only tells',
    AssetClassDisabled: 'only tells',
    LongNotAllowed: 'only tells',
    ShortNotAllowed: 'only tells',
    ClosingOrdersOnly: 'only tells',
    Excluded: 'nothing',
    RoundedToZero: 'nothing',
    RaisedToMinimum: 'nothing',
    CappedToMaximum: 'nothing',
    NoReferencePrice: 'nothing',
  }
  const listed = reasons.flatMap((row) => codesIn(row.Reason ?? '').map((code) => [code, row.AutoSync]))
  expect(Object.fromEntries(listed)).toEqual(acts)
  for (const row of compared) {
    const [, reason] = (row.Report ?? '').split(', ')
    const [act] = (row.AutoSync ?? '').split(/ \d/)
    if (reason !== undefined) expect(acts[codeIn(reason) as NotInSyncReason]).toBe(act)
  }
})

test('the statuses of a request', () => {
  const statuses: Readonly<Record<ApprovalStatus, null>> = {
    PendingCustomer: null,
    Processing: null,
    PendingBroker: null,
    Completed: null,
    Failed: null,
    Expired: null,
    Superseded: null,
  }
  const listed = tableUnder('in-step', 'The life of a setup').map((row) => codeIn(row.Status))
  expect(listed).toEqual(Object.keys(statuses))
})

test('the groups that may open', () => {
  const names = syncGroups.map((group) =>
    group.split('_').reduce((name, part) => name + (name === '' ? capital(part) : region(part)), ''),
  )
  const text = textOf('in-step').replaceAll('\n', ' ')
  expect(text).toContain(`each group that is enabled: ${names.map((name) => `\`${name}\``).join(', ')} (`)
})

const capital = (word: string): string => word.charAt(0).toUpperCase() + word.slice(1)
const region = (word: string): string => (word === 'usa' ? 'USA' : capital(word))

test.each(tableUnder('in-step', 'Your own stop loss'))('a stop at $Stop', (row) => {
  const stop = autoStopLoss({
    quantity: dec(numberIn(row['You hold'])),
    averagePrice: dec(numberIn(row.Average)),
    dollars: dec(numberIn(row.Amount)),
    pointValue: dec(numberIn(row['Point value'])),
    exchangeRate: dec(1),
    tick: dec(numberIn(row.Tick)),
  })
  expect(stop ? `${stop.side === '1' ? 'buy' : 'sell'} ${stop.stop.toFixed()}` : 'none').toBe(row.Stop)
})

test('why AutoSync is off', () => {
  const external: Readonly<Record<ExternalReason, null>> = { ExternalExecution: null, PositionMismatch: null }
  const listed = tableUnder('in-step', 'When others trade').map((row) => codeIn(row['`SyncDisabledReason`']))
  expect(listed).toEqual([...Object.keys(external), 'DisabledByHolder'])
})

test('how long things take', () => {
  const units = { seconds: 1_000, days: 86_400_000 }
  const listed = tableUnder('in-step', 'How long things take').map((row) => {
    const [count, unit] = (row['How long'] ?? '').split(' ')
    return Number(count) * units[unit as keyof typeof units]
  })
  expect(listed).toEqual([driftGraceSeconds * 1_000, patience, watchedFor, approvalLife])
})
