import { describe, expect, test } from 'vitest'
import {
  type Given,
  inputOf,
  type Order,
  type Signal,
  told,
} from '../../../test/support/mirror-sync-given.ts'
import { dec } from '../decimal.ts'
import { autoSync } from './mirror-sync.ts'

const run = (given: Given) => {
  const plan = autoSync(inputOf(given))
  const [row] = plan.report
  return { actions: told(plan), row: row && [row.inSync, row.reason] }
}

const limitEntry: Signal = { q: 10, limit: 100 }
const stopExit: Signal = { q: 10, stop: 90, side: '2', positionEffect: 'C' }
const stopCopy: Order = { leaves: 10, stop: 90, side: '2', positionEffect: 'C' }
const sold = { side: '2', positionEffect: 'C' } as const

// biome-ignore format: one case per line
const cases: readonly (readonly [string, Given, string[], unknown])[] = [
  ['in sync', { p: 10, a: 10 }, [], [true, null]],
  ['both flat, named', { p: 0, a: 0 }, [], [true, null]],
  ['opens what is missing', { p: 10, a: 4 }, ['open ES buy 6'], [false, 'Opening']],
  ['opens shorts', { p: -10 }, ['open ES sell 10'], [false, 'Opening']],
  ['reduces', { p: 4, a: 10 }, ['close ES sell 6'], [false, 'Reducing']],
  ['closes what the strategy left', { a: -3 }, ['close ES buy 3'], [false, 'Reducing']],
  ['closes before it reverses', { p: -5, a: 5 }, ['close ES sell 5'], [false, 'Reversing']],
  ['also from a short', { p: 2, a: -3 }, ['close ES buy 3'], [false, 'Reversing']],
  ['reduces without permissions', { p: 4, a: 10, settings: { enabled: false } }, ['close ES sell 6'], [false, 'Reducing']],
  ['class disabled', { p: 4, settings: { enabled: false, long: false } }, [], [false, 'AssetClassDisabled']],
  ['no longs', { p: 4, settings: { long: false } }, [], [false, 'LongNotAllowed']],
  ['no shorts', { p: -4, settings: { short: false } }, [], [false, 'ShortNotAllowed']],
  ['closing only', { p: 4, settings: { closingOrdersOnly: true } }, [], [false, 'ClosingOrdersOnly']],
  ['sync-to-open off', { p: 4, a: 1, syncToOpen: false }, [], [false, 'SyncToOpenDisabled']],
  ['AutoSync off', { p: 4, isSyncEnabled: false }, [], [false, 'SyncDisabled']],
  ['AutoSync off and in sync', { p: 4, a: 4, isSyncEnabled: false }, [], [true, null]],
  ['capped is in sync, with the reason', { p: 6, a: 1, settings: { maximum: dec(1) } }, [], [true, 'CappedToMaximum']],
  ['rounded away', { p: 1, a: 0, settings: { scalingPercentage: dec(50) } }, [], [true, 'RoundedToZero']],
  ['13 held, 13.5 scaled', { p: 9, a: 13, settings: { scalingPercentage: dec(150) } }, [], [true, null]],
  ['a dollar cap sells nothing', { cls: 'CS', ref: 50, p: 100, a: 60, settings: { maximumDollars: dec(1000) } }, [], [true, 'CappedToMaximum']],
  ['a dollar cap opens up to it', { cls: 'CS', ref: 50, p: 100, a: 15, settings: { maximumDollars: dec(1000) } }, ['open ES buy 5'], [false, 'Opening']],

  ['a sync order in flight', { p: 10, a: 4, orders: [{ signalId: null, leaves: 6 }] }, [], [false, 'OrderPending']],
  ['a sync order that would go past', { p: 7, a: 4, orders: [{ signalId: null, leaves: 6 }] }, ['cancel a'], [false, 'OrderPending']],
  ['the second of two goes past', { p: 7, a: 4, orders: [{ signalId: null, leaves: 2 }, { clientOrderId: 'b', signalId: null, leaves: 2 }] }, ['cancel b'], [false, 'OrderPending']],
  ['it goes past together with a copy in grace', { p: 10, orders: [{ leaves: 7, limit: 100 }, { clientOrderId: 'b', signalId: null, leaves: 5 }], finished: { 1: ['2', 5] } }, ['cancel b'], [false, 'OrderPending']],
  ['the rest is opened beside it', { p: 12, a: 4, orders: [{ signalId: null, leaves: 6 }] }, ['open ES buy 2'], [false, 'Opening']],
  ['a close in flight is deducted', { p: 2, a: 10, orders: [{ signalId: null, leaves: 5, ...sold }] }, ['close ES sell 3'], [false, 'Reducing']],
  ['a close with nothing left to close is canceled', { p: -2, syncToOpen: false, orders: [{ signalId: null, leaves: 1, ...sold }] }, ['cancel a'], [false, 'OrderPending']],
  ['no opening beside a close in flight', { p: -5, a: 5, orders: [{ signalId: null, leaves: 5, ...sold }] }, [], [false, 'OrderPending']],
  ['nor beside one that leads away from what is held as it should be', { p: 10, a: 10, orders: [{ ...stopCopy, leaves: 1 }], finished: { 1: ['2', 5] } }, [], [true, 'OrderPending']],
  ['a missing permission is named before that', { p: -5, a: 5, settings: { short: false }, orders: [{ signalId: null, leaves: 5, ...sold }] }, [], [false, 'ShortNotAllowed']],

  ['a working entry on both sides', { p: 0, a: 0, signals: [limitEntry], orders: [{ leaves: 10, limit: 100 }] }, [], [true, null]],
  ['the strategy filled first', { p: 5, a: 0, signals: [{ ...limitEntry, f: 5 }], orders: [{ leaves: 10, limit: 100 }] }, [], [true, 'OrderPending']],
  ['the account filled first', { p: 0, a: 10, signals: [limitEntry], orders: [{ leaves: 0, e: 10, limit: 100 }] }, [], [true, 'OrderPending']],
  ['another price', { signals: [limitEntry], orders: [{ leaves: 10, limit: 99 }] }, ['replace a 10 @100'], undefined],
  ['another stop', { p: 10, a: 10, signals: [{ ...stopExit, stop: 91 }], orders: [stopCopy] }, ['replace a 10 @91'], [true, null]],
  ['another size', { signals: [limitEntry], orders: [{ leaves: 7, e: 0, limit: 100 }] }, ['replace a 10 @100'], undefined],
  ['a replacement takes the copy over', { a: 2, signals: [{ ...limitEntry, signalId: 2, replaces: 1, q: 6 }], orders: [{ leaves: 8, e: 2, limit: 100 }], finished: { 1: ['5', 1] } }, ['replace a 4 @100'], [true, 'OrderPending']],
  ['a missing copy is placed', { signals: [limitEntry] }, ['place 1 buy 10'], undefined],
  ['for what is still to trade', { p: 4, signals: [{ ...limitEntry, f: 4 }] }, ['place 1 buy 6', 'open ES buy 4'], [false, 'Opening']],
  ['not one that must not be opened later', { signals: [{ ...limitEntry, doNotSyncToOpen: true }] }, [], undefined],
  ['an entry that ended here stays ended', { signals: [limitEntry], orders: [{ leaves: 0, limit: 100 }] }, [], undefined],
  ['an exit that ended here is placed again', { p: 10, a: 10, signals: [stopExit], orders: [{ ...stopCopy, leaves: 0 }] }, ['place 1 sell 10'], [true, null]],
  ['a permission withdrawn cancels the entry', { signals: [limitEntry], orders: [{ leaves: 10, limit: 100 }], settings: { long: false } }, ['cancel a'], undefined],

  ['canceled signal', { p: 0, a: 3, orders: [{ leaves: 7, e: 3 }], finished: { 1: ['4', 1] } }, ['cancel a'], [false, 'OrderPending']],
  ['unknown signal', { orders: [{ leaves: 7 }] }, ['cancel a'], undefined],
  ['grace', { p: 10, a: 3, orders: [{ leaves: 7, e: 3, limit: 100 }], finished: { 1: ['2', 29] } }, [], [false, 'OrderPending']],
  ['after the grace', { p: 10, a: 3, orders: [{ leaves: 7, e: 3, limit: 100 }], finished: { 1: ['2', 30] } }, ['market a 7'], [false, 'OrderPending']],
  ['only as much as is missing', { p: 10, a: 6, orders: [{ leaves: 7, e: 3, limit: 100 }], finished: { 1: ['2', 30] } }, ['market a 4'], [false, 'OrderPending']],
  ['also of a market order', { p: 10, a: 6, orders: [{ leaves: 7, e: 3 }], finished: { 1: ['2', 30] } }, ['market a 4'], [false, 'OrderPending']],
  ['nothing missing any more', { p: 10, a: 10, orders: [{ leaves: 7, limit: 100 }], finished: { 1: ['2', 30] } }, ['cancel a'], [true, null]],
  ['already turned', { p: 10, a: 3, orders: [{ leaves: 7, e: 3 }], finished: { 1: ['2', 99] } }, [], [false, 'OrderPending']],
  ['two copies share what is missing', { p: 10, a: 3, orders: [{ leaves: 5, limit: 100 }, { clientOrderId: 'b', leaves: 5, limit: 100 }], finished: { 1: ['2', 30] } }, ['market a 5', 'market b 2'], [false, 'OrderPending']],
  ['not chased', { p: 10, a: 3, chaseFilled: false, orders: [{ leaves: 7, limit: 100 }], finished: { 1: ['2', 30] } }, ['cancel a'], [false, 'OrderPending']],
  ['an entry that must not be opened later is not chased', { p: 10, a: 3, orders: [{ leaves: 7, limit: 100 }], finished: { 1: ['2', 30, true] } }, ['cancel a'], [false, 'OrderPending']],
  ['a permission withdrawn meanwhile', { p: 10, a: 3, settings: { long: false }, orders: [{ leaves: 7, limit: 100 }], finished: { 1: ['2', 30] } }, ['cancel a'], [false, 'OrderPending']],
  ['an exit left behind', { p: 0, a: 10, orders: [{ ...stopCopy, stop: 90 }], finished: { 1: ['2', 30] } }, ['market a 10'], [false, 'OrderPending']],
  ['an exit closes no more than is held', { p: -4, a: 3, orders: [{ ...stopCopy, stop: 90 }], finished: { 1: ['2', 30] } }, ['market a 3'], [false, 'OrderPending']],

  ['an exit in grace for more than is held', { p: 0, a: 10, orders: [{ ...stopCopy, leaves: 15 }], finished: { 1: ['2', 5] } }, [], [false, 'OrderPending']],
  ['an exit in grace for what is no longer held', { p: 0, a: 0, orders: [{ ...stopCopy, leaves: 5 }], finished: { 1: ['2', 5] } }, ['cancel a'], [true, null]],
  ['one of a reversal whose second half traded first goes to the other side', { p: -5, a: 0, orders: [{ ...stopCopy, leaves: 5 }], finished: { 1: ['2', 5] } }, [], [false, 'OrderPending']],
  ['nor does it with what still works to open it', { p: -5, a: 0, orders: [{ ...stopCopy, leaves: 5 }, { clientOrderId: 'b', signalId: 2, side: '2', leaves: 5, limit: 90 }], finished: { 1: ['2', 5], 2: ['2', 5] } }, ['cancel a'], [false, 'OrderPending']],
  ['nor with what the copy of a working signal still opens there', { p: -5, a: 0, signals: [{ signalId: 2, side: '2', q: 10, f: 5, limit: 90 }], orders: [{ ...stopCopy, leaves: 5 }, { clientOrderId: 'b', signalId: 2, side: '2', leaves: 10, limit: 90 }], finished: { 1: ['2', 5] } }, ['cancel a'], [true, 'OrderPending']],
  ['an exit in grace of a symbol that is left alone', { p: 10, a: 4, orders: [{ ...stopCopy, leaves: 4 }], finished: { 1: ['2', 5] }, exclusions: new Map([['ES', 1]]) }, ['cancel a'], [true, 'Excluded']],
  ['an entry in grace takes nothing from an exit', { p: 15, a: 10, signals: [{ ...stopExit, signalId: 2, q: 15 }], orders: [{ leaves: 5, limit: 100 }, { ...stopCopy, clientOrderId: 'b', signalId: 2 }], finished: { 1: ['2', 5] } }, [], [false, 'OrderPending']],

  ['exits shrink for a reduction', { p: 6, a: 10, signals: [{ ...stopExit, q: 6 }], orders: [stopCopy] }, ['replace a 6 @90', 'close ES sell 4'], [false, 'Reducing']],
  ['an exit shrunk to nothing goes first', { p: 0, a: 10, signals: [{ ...stopExit, q: 6 }], orders: [stopCopy] }, ['cancel a'], [false, 'OrderPending']],
  ['then the position', { p: 0, a: 10, signals: [{ ...stopExit, q: 6 }], orders: [{ ...stopCopy, leaves: 0 }] }, ['close ES sell 10'], [false, 'Reducing']],
  ['stop and target protect the same', { p: 10, a: 10, signals: [{ ...stopExit, ocaGroup: 'g' }, { q: 10, limit: 120, ...sold, signalId: 2, ocaGroup: 'g' }], orders: [stopCopy, { leaves: 10, limit: 120, ...sold, clientOrderId: 'b', signalId: 2 }] }, [], [true, null]],
  ['without a group the younger shrinks', { p: 10, a: 10, signals: [stopExit, { q: 10, limit: 120, ...sold, signalId: 2 }], orders: [stopCopy, { leaves: 10, limit: 120, ...sold, clientOrderId: 'b', signalId: 2 }] }, ['cancel b'], [true, null]],
  ['a market close still working stops openings', { p: 10, a: 5, signals: [{ q: 2, ...sold }], orders: [{ leaves: 2, ...sold }] }, ['cancel a'], [false, 'OrderPending']],
  ['what the owner works by hand counts', { p: 10, a: 10, signals: [stopExit], orders: [stopCopy, { leaves: 4, stop: 95, ...sold, clientOrderId: 'm', signalId: 77, care: 'byHand' }] }, ['replace a 6 @90'], [true, null]],
  ['an exit taken over by hand is left alone', { p: 10, a: 10, signals: [stopExit], orders: [{ ...stopCopy, stop: 95, care: 'byHand' }] }, [], [true, null]],
  ['left behind by its signal it has its grace', { p: 6, a: 10, orders: [{ ...stopCopy, leaves: 4, stop: 95, care: 'byHand' }], finished: { 1: ['2', 29] } }, [], [false, 'OrderPending']],
  ['and is turned to market after it', { p: 6, a: 10, orders: [{ ...stopCopy, leaves: 4, stop: 95, care: 'byHand' }], finished: { 1: ['2', 30] } }, ['market a 4'], [false, 'OrderPending']],
  ['as that it still counts', { p: 6, a: 10, orders: [{ leaves: 4, ...sold, care: 'byHand' }], finished: { 1: ['2', 31] } }, [], [false, 'OrderPending']],
  ['or is canceled where nothing is missing', { p: 6, a: 6, orders: [{ ...stopCopy, leaves: 4, stop: 95, care: 'byHand' }], finished: { 1: ['2', 30] } }, ['cancel a'], [true, null]],
  ['a repriced exit leaves the rest of its group alone', { p: 10, a: 10, signals: [{ ...stopExit, ocaGroup: 'g' }, { q: 10, limit: 120, ...sold, signalId: 2, ocaGroup: 'g' }], orders: [stopCopy, { leaves: 10, limit: 115, ...sold, clientOrderId: 'b', signalId: 2, care: 'byHand' }] }, [], [true, null]],
  ['a group with two repriced exits counts once', { p: 10, a: 10, signals: [{ ...stopExit, q: 6, ocaGroup: 'g' }, { q: 6, limit: 120, ...sold, signalId: 2, ocaGroup: 'g' }, { ...stopExit, q: 4, signalId: 3 }], orders: [{ ...stopCopy, leaves: 6, stop: 95, care: 'byHand' }, { leaves: 6, limit: 115, ...sold, clientOrderId: 'b', signalId: 2, care: 'byHand' }, { ...stopCopy, leaves: 4, clientOrderId: 'c', signalId: 3 }] }, [], [true, null]],
  ['a group with a repriced exit shares what a correction leaves', { p: 4, a: 10, signals: [{ ...stopExit, q: 4, ocaGroup: 'g' }, { q: 4, limit: 120, ...sold, signalId: 2, ocaGroup: 'g' }], orders: [stopCopy, { leaves: 10, limit: 115, ...sold, clientOrderId: 'b', signalId: 2, care: 'byHand' }] }, ['replace a 4 @90', 'close ES sell 6'], [false, 'Reducing']],
  ['and what a close in flight leaves', { p: 4, a: 10, signals: [{ ...stopExit, q: 4, ocaGroup: 'g' }, { q: 4, limit: 120, ...sold, signalId: 2, ocaGroup: 'g' }], orders: [stopCopy, { leaves: 10, limit: 115, ...sold, clientOrderId: 'b', signalId: 2, care: 'byHand' }, { clientOrderId: 'c', signalId: null, leaves: 6, ...sold }] }, ['replace a 4 @90'], [false, 'OrderPending']],
  ['an exit ahead of its signal takes its partner along, not those of others', { p: 10, a: 5, signals: [{ q: 5, limit: 120, ...sold, ocaGroup: 'g' }, { ...stopExit, q: 5, signalId: 2, ocaGroup: 'g' }, { q: 5, limit: 125, ...sold, signalId: 3, ocaGroup: 'h' }, { ...stopExit, q: 5, signalId: 4, ocaGroup: 'h' }], orders: [{ leaves: 0, e: 5, limit: 120, ...sold }, { ...stopCopy, leaves: 5, clientOrderId: 'b', signalId: 2 }, { leaves: 5, limit: 125, ...sold, clientOrderId: 'c', signalId: 3 }, { ...stopCopy, leaves: 5, clientOrderId: 'd', signalId: 4 }] }, ['cancel b'], [true, 'OrderPending']],
  ['in part', { p: 10, a: 7, signals: [{ q: 5, limit: 120, ...sold, ocaGroup: 'g' }, { ...stopExit, q: 5, signalId: 2, ocaGroup: 'g' }], orders: [{ leaves: 2, e: 3, limit: 120, ...sold }, { ...stopCopy, leaves: 5, clientOrderId: 'b', signalId: 2 }] }, ['replace b 2 @90'], [true, 'OrderPending']],
  ['an exit that follows its signal shrinks its partner once', { p: 7, a: 7, signals: [{ q: 5, f: 3, limit: 120, ...sold, ocaGroup: 'g' }, { ...stopExit, q: 2, signalId: 2, ocaGroup: 'g' }], orders: [{ leaves: 2, e: 3, limit: 120, ...sold }, { ...stopCopy, leaves: 2, clientOrderId: 'b', signalId: 2 }] }, [], [true, null]],
  ['also one whose copy was made when a part had filled', { p: 16, a: 14, signals: [{ q: 10, f: 4, limit: 120, ...sold, ocaGroup: 'g' }, { ...stopExit, q: 6, signalId: 2, ocaGroup: 'g' }], orders: [{ leaves: 4, e: 4, b: 2, limit: 120, ...sold }, { ...stopCopy, leaves: 6, clientOrderId: 'b', signalId: 2 }] }, ['replace b 4 @90'], [true, 'OrderPending']],
  ['one behind its signal leaves its partner as it is', { p: 7, a: 10, signals: [{ q: 5, f: 3, limit: 120, ...sold, ocaGroup: 'g' }, { ...stopExit, q: 2, signalId: 2, ocaGroup: 'g' }], orders: [{ leaves: 5, limit: 120, ...sold }, { ...stopCopy, leaves: 2, clientOrderId: 'b', signalId: 2 }] }, [], [true, 'OrderPending']],
  ['an exit on the wrong side of the position is not placed', { p: 10, a: -2, signals: [{ q: 5, limit: 120, ...sold }, { ...stopExit, q: 5, signalId: 2 }], orders: [{ leaves: 0, e: 12, limit: 120, ...sold }] }, [], [true, 'OrderPending']],
  ['nor left to work', { p: 10, a: -2, signals: [{ q: 5, limit: 120, ...sold }, { ...stopExit, q: 5, signalId: 2 }], orders: [{ leaves: 0, e: 12, limit: 120, ...sold }, { ...stopCopy, leaves: 2, clientOrderId: 'b', signalId: 2 }] }, ['cancel b'], [true, 'OrderPending']],
  ['the auto stop loss is left alone', { p: 10, a: 10, orders: [{ ...stopCopy, signalId: null, care: 'guard' }] }, [], [true, null]],
  ['a market close at work holds an opening back', { p: 10, a: 8, signals: [{ q: 6, ...sold }], orders: [{ leaves: 4, ...sold }] }, [], [false, 'OrderPending']],
  ['a resting exit does not', { p: 10, a: 5, signals: [stopExit], orders: [{ ...stopCopy, leaves: 5 }] }, ['open ES buy 5'], [false, 'Opening']],
  ['nor does a market entry at work', { p: 5, signals: [{ q: 3 }], orders: [{ leaves: 3 }] }, ['open ES buy 5'], [false, 'Opening']],
  ['one that is missing is the youngest', { p: 10, a: 10, signals: [stopExit, { q: 10, limit: 120, ...sold, signalId: 2 }], orders: [{ leaves: 10, limit: 120, ...sold, clientOrderId: 'b', signalId: 2 }] }, [], [true, null]],
  ['the older copy keeps its leaves whatever the order of the signals', { p: 10, a: 10, signals: [stopExit, { q: 10, limit: 120, ...sold, signalId: 2 }], orders: [{ leaves: 10, limit: 120, ...sold, clientOrderId: 'b', signalId: 2 }, stopCopy] }, ['cancel a'], [true, null]],
  ['one of two working copies is enough', { signals: [limitEntry], orders: [{ leaves: 10, limit: 100 }, { clientOrderId: 'b', leaves: 10, limit: 100 }] }, ['cancel a'], undefined],
  ['an exit covers what the entry bought here', { p: 4, a: 2, signals: [{ ...limitEntry, f: 4 }, { ...stopExit, signalId: 2, q: 4, entry: 1 }], orders: [{ leaves: 8, e: 2, limit: 100 }] }, ['place 2 sell 2'], [true, 'OrderPending']],
  ['what another entry bought is none of its business', { p: 6, a: 5, signals: [{ ...limitEntry, signalId: 3, q: 4, f: 2 }, { ...limitEntry, f: 4 }, { ...stopExit, signalId: 2, q: 4, entry: 1 }], orders: [{ leaves: 1, e: 3, limit: 100, clientOrderId: 'b', signalId: 3 }, { leaves: 8, e: 2, limit: 100 }] }, ['place 2 sell 2'], [true, 'OrderPending']],
  ['a replacement that still waits is not copied', { signals: [limitEntry, { ...limitEntry, signalId: 2, replaces: 1, q: 6 }], orders: [{ leaves: 10, limit: 100 }] }, [], undefined],
  ['raised and capped back to the scaled size', { p: 3, a: 3, settings: { minimum: dec(5), maximum: dec(3) } }, [], [true, null]],

  ['excluded', { p: 10, exclusions: new Map([['ES', 1]]) }, [], [true, 'Excluded']],
  ['excluded, side unknown', { p: 10, exclusions: new Map([['ES', null]]) }, [], [true, 'Excluded']],
  ['excluded places nothing', { p: 10, signals: [stopExit], exclusions: new Map([['ES', 1]]) }, [], [true, 'Excluded']],
  ['excluded still cancels', { p: 10, signals: [stopExit], orders: [stopCopy], exclusions: new Map([['ES', 1]]) }, ['cancel a'], [true, 'Excluded']],
  ['excluded keeps an exit for what is held', { p: 6, a: 10, settings: { maximum: dec(0) }, signals: [{ ...stopExit, q: 6 }], orders: [stopCopy], exclusions: new Map([['ES', 1]]) }, [], [true, 'Excluded']],
  ['excluded changes no price', { p: 6, a: 10, settings: { maximum: dec(0) }, signals: [{ ...stopExit, q: 6, stop: 91 }], orders: [stopCopy], exclusions: new Map([['ES', 1]]) }, [], [true, 'Excluded']],
  ['excluded chases nothing', { p: 10, orders: [{ leaves: 7, limit: 100 }], finished: { 1: ['2', 30] }, exclusions: new Map([['ES', 1]]) }, ['cancel a'], [true, 'Excluded']],
  ['no longer excluded: flat', { p: 0, a: 2, exclusions: new Map([['ES', 1]]) }, ['close ES sell 2'], [false, 'Reducing']],
  ['no longer excluded: other side', { p: -4, exclusions: new Map([['ES', 1]]) }, ['open ES sell 4'], [false, 'Opening']],
]

describe('one symbol', () => {
  test.each(cases)('%s', (_name, given, actions, row) => {
    expect(run(given)).toEqual({ actions, row })
  })

  test('the report is sorted, and kinds of actions come before symbols', () => {
    const plan = autoSync(
      inputOf({ p: { NQ: 2, CL: 1 }, a: { GC: 3, CL: 4, AA: 0 }, orders: [{ leaves: 1, symbol: 'ZB' }] }),
    )
    expect(told(plan)).toEqual(['cancel a', 'close CL sell 3', 'close GC sell 3', 'open NQ buy 2'])
    expect(plan.report.map(({ symbol }) => symbol)).toEqual(['AA', 'CL', 'GC', 'NQ'])
  })

  test('a copy changes to the type of its signal', () => {
    const signals = [{ q: 2, limit: 5 }]
    const plan = autoSync(inputOf({ signals, orders: [{ leaves: 2, stop: 9, type: '3' }] }))
    expect(plan.actions.replace).toMatchObject([{ clientOrderId: 'a', type: '2', limit: dec(5), stop: null }])
  })

  test('ended exclusions are named', () => {
    const exclusions = new Map<string, 1 | -1 | null>([
      ['NQ', 1],
      ['ES', -1],
      ['CL', null],
      ['GC', null],
    ])
    expect(autoSync(inputOf({ p: { ES: 1, NQ: 1, CL: 1 }, exclusions })).clearedExclusions).toEqual([
      'ES',
      'GC',
    ])
  })
})
