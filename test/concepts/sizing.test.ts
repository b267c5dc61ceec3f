/** The numbers and codes of the page on sizing are those of the functions that the product runs. */
import { describe, expect, test } from 'vitest'
import type { PositionEffect, SecurityType, Side } from '../../src/domain/codes.ts'
import { dec, zero } from '../../src/domain/decimal.ts'
import type { SignalFacts } from '../../src/domain/mirror/mirror-columns.ts'
import { type Follower, planFollower } from '../../src/domain/mirror/mirror-plan.ts'
import {
  type MirrorSettings,
  scalingReasons,
  target,
  unlimited,
} from '../../src/domain/mirror/mirror-target.ts'
import { type BlockCode, isBlockCode, skipCodes } from '../../src/domain/mirror/skip.ts'
import { codeIn, numberIn, type TableRow, tableUnder } from './page.ts'

const classes: Readonly<Record<string, SecurityType>> = {
  stocks: 'CS',
  options: 'OPT',
  futures: 'FUT',
  forex: 'FOR',
}

/** Settings as the page writes them: `10 %, minimum 3, maximum 2`. */
function settingsIn(cell = ''): MirrorSettings {
  const settings: MirrorSettings = { ...unlimited, scalingPercentage: dec(100) }
  for (const word of cell.split(', ')) {
    const [name = '', amount = ''] = word.split(' ')
    if (word.endsWith('%')) settings.scalingPercentage = dec(name)
    else if (word.startsWith('$')) settings.maximumDollars = dec(numberIn(word))
    else if (name === 'minimum' || name === 'maximum' || name === 'lot') settings[name] = dec(amount)
    else if (word === 'no shorts') settings.short = false
    else if (word === 'closing only') settings.closingOrdersOnly = true
    else if (word === 'off') settings.enabled = false
    else throw new Error(`no setting is written "${word}"`)
  }
  return settings
}

/** `$5,000` has a comma of its own. */
const withoutThousands = (cell = ''): string => cell.replaceAll(/(\d),(\d)/g, '$1$2')

test.each(tableUnder('sizing', 'The size'))('a size: $Class $Settings', (row) => {
  const found = target(dec(numberIn(row['Strategy holds'])), {
    assetClass: classes[row.Class ?? ''] ?? 'CS',
    settings: settingsIn(withoutThousands(row.Settings)),
    held: dec(numberIn(row['You hold'])),
    referencePrice: row.Price === '' ? null : dec(numberIn(row.Price)),
  })
  expect([found.quantity.toNumber(), found.reason ?? '']).toEqual([
    numberIn(row['You should hold']),
    codeIn(row.Reason),
  ])
})

const signalOf = (side: Side, quantity: number, before: number): SignalFacts => {
  const closes = before * (side === '1' ? 1 : -1) < 0
  return {
    assetClass: 'FUT',
    side,
    positionEffect: closes ? 'C' : 'O',
    quantity: dec(quantity),
    filled: zero,
    filledBefore: zero,
    strategyPosition: dec(before),
    referencePrice: dec(40),
    entryKept: zero,
  }
}

const followerOf = (settings: MirrorSettings, held: number, block: BlockCode | null = null): Follower => ({
  settings,
  block,
  position: dec(held),
  executed: zero,
  filledAhead: zero,
  closingLeaves: zero,
  entryExecuted: null,
})

test('copies, one order after the other', () => {
  let [settings, strategy, held] = ['', 0, 0]
  const told = tableUnder('sizing', 'The copies').map((row): TableRow => {
    if (row.Settings !== settings) [settings, strategy, held] = [row.Settings ?? '', 0, 0]
    const [word = '', size] = (row.Order ?? '').split(' ')
    const side = word === 'buy' ? '1' : '2'
    const signal = signalOf(side, numberIn(size), strategy)
    const { quantity, code } = planFollower(signal, followerOf(settingsIn(settings), held))
    const direction = side === '1' ? 1 : -1
    strategy += direction * numberIn(size)
    held += direction * quantity.toNumber()
    return {
      Settings: settings,
      Order: row.Order ?? '',
      'Strategy then holds': String(strategy),
      Copy: quantity.isZero() ? `none (\`${code}\`)` : `${word} ${quantity.toFixed()}`,
      'You then hold': String(held),
    }
  })
  expect(tableUnder('sizing', 'The copies')).toEqual(told)
})

describe('the table of skips', () => {
  const rows = tableUnder('sizing', 'Skips')

  test('has every code, those that a copy may carry first', () => {
    const codes = rows.map((row) => codeIn(row.Code))
    expect(codes).toEqual([...skipCodes])
    expect(codes.slice(0, 4)).toEqual(scalingReasons.filter((code) => copied.has(code)))
    expect(copied.size).toBe(4)
  })

  /** Who is tried: every setting of the page and more, with and without a price, at every size around it. */
  const wishes = ['100 %', '50 %', '10 %', '10 %, minimum 1', '50 %, maximum 1', '100 %, no shorts']
    .concat('100 %, closing only', '100 %, off', '100 %, $40', '50 %, $80')
    .map(settingsIn)
    .flatMap((settings) => [settings, { ...settings, long: false }])
  const blockCodes = skipCodes.filter((code): code is BlockCode => isBlockCode(code))

  const skipped = new Map<string, Set<PositionEffect>>()
  const copied = new Set<string>()
  const note = (signal: SignalFacts, follower: Follower): void => {
    const { quantity, code } = planFollower(signal, follower)
    if (code === null) return
    if (!quantity.isZero()) copied.add(code)
    else skipped.set(code, (skipped.get(code) ?? new Set()).add(signal.positionEffect))
  }
  for (const assetClass of ['CS', 'FUT'] as const)
    for (const referencePrice of [null, dec(40)])
      for (const side of ['1', '2'] as const)
        for (const strategy of [-12, -2, 0, 2, 12])
          for (const quantity of [1, 2]) {
            const signal = { ...signalOf(side, quantity, strategy), assetClass, referencePrice }
            for (const settings of wishes)
              for (const held of [-2, -1, 0, 1, 2]) note(signal, followerOf(settings, held))
            for (const code of blockCodes) note(signal, followerOf(settingsIn('100 %'), 2, code))
          }

  test.each(rows.map((row) => [codeIn(row.Code), row] as const))('says what %s keeps away', (code, row) => {
    const effects = [...(skipped.get(code) ?? [])].sort().join()
    const words: Readonly<Record<string, string>> = { O: 'opening', C: 'closing', 'C,O': 'both' }
    expect(row['Keeps from you']).toBe(words[effects])
  })
})
