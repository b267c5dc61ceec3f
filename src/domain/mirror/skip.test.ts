import { expect, test } from 'vitest'
import { blocks, isBlockCode, skipCodes } from './skip.ts'

test('the codes stand in the order in which their numbers were given out', () => {
  expect(skipCodes).toEqual([
    'RoundedToZero',
    'RaisedToMinimum',
    'CappedToMaximum',
    'NoReferencePrice',
    'AssetClassDisabled',
    'LongNotAllowed',
    'ShortNotAllowed',
    'ClosingOrdersOnly',
    'Excluded',
    'AutotradeDisabled',
    'BrokerDisabled',
    'NotTradableAtBroker',
    'SubscriptionEnded',
    'UnknownOutcomePending',
    'MassSwitch',
    'NothingHeld',
    'NoIncrease',
  ])
})

test('a mass switch stops openings, never what protects or ends a position', () => {
  expect([blocks('MassSwitch', 'O'), blocks('MassSwitch', 'C')]).toEqual([true, false])
  expect([blocks('BrokerDisabled', 'O'), blocks('BrokerDisabled', 'C')]).toEqual([true, true])
})

test('a circumstance is told from a size', () => {
  const circumstances = skipCodes.filter(isBlockCode)
  expect([circumstances[0], circumstances.at(-1), circumstances.length]).toEqual([
    'Excluded',
    'MassSwitch',
    7,
  ])
  expect(isBlockCode(null)).toBe(false)
})
