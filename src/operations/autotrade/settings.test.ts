/** Which column of a setup each member of its settings shows. */
import { expect, test } from 'vitest'
import { dec } from '../../domain/decimal.ts'
import { shownSettings } from './settings.ts'

const now = Date.UTC(2024, 2, 12, 14)
const shown = (setup: object, value?: string): Record<string, unknown> =>
  shownSettings(
    { setup } as Parameters<typeof shownSettings>[0],
    { now },
    value === undefined ? undefined : dec(value),
  )
const nothing = shown({})
/** The members that are otherwise than those of an empty setup. */
const changed = (setup: object): unknown[] =>
  Object.entries(shown(setup)).filter(([name, value]) => value !== nothing[name])

const classes = ['Stocks', 'Options', 'Futures', 'Forex']
const places = ['StocksUSA', 'StocksEurope', 'OptionsUSA', 'OptionsEurope']
  .concat(['FuturesUSA', 'FuturesEurope', 'FuturesAsia', 'Forex'])
  .map((name) => [name, name.replace(/([a-z])([A-Z])/g, '$1_$2').toLowerCase()] as const)

test.each(places)('what is synced of %s', (name, column) => {
  expect(changed({ [`will_sync_${column}`]: true })).toEqual([[`WillSyncToOpen${name}`, true]])
  expect(changed({ [`last_sync_${column}`]: new Date(now).toISOString() })).toEqual([
    [`LastSync${name}`, now],
  ])
})

test.each(classes)('what may be traded of %s', (name) => {
  const column = name.toLowerCase()
  const [long, short] =
    name === 'Forex' ? ['ForexEnabledLong', 'ForexEnabledShort'] : [`${name}Long`, `${name}Short`]
  expect(changed({ [`${column}_enabled`]: true })).toEqual([[`Enabled${name}`, true]])
  expect(changed({ [`${column}_long`]: true })).toEqual([[long, true]])
  expect(changed({ [`${column}_short`]: true })).toEqual([[short, true]])
})

test.each(['Options', 'Futures', 'Forex'])('how many of %s', (name) => {
  expect(changed({ [`min_${name.toLowerCase()}`]: 3 })).toEqual([[`Min${name}`, 3]])
  expect(changed({ [`max_${name.toLowerCase()}`]: 3 })).toEqual([[`Max${name}`, 3]])
})

test('a value has its date, and nothing else has one', () => {
  expect([nothing.NetLiquidationValue, nothing.NetLiquidationValueDate]).toEqual([null, null])
  expect(shown({}, '0').NetLiquidationValueDate).toBe(now)
})
