/** What an exit in its grace may still trade where AutoSync does not ask itself: the owner's exits are cut to it. */
import { expect, test } from 'vitest'
import { type Given, inputOf } from '../../../test/support/mirror-sync-given.ts'
import { reachInGrace } from './mirror-sync-copies.ts'
import { readSymbol } from './mirror-sync-state.ts'

const reversed: Given = { p: -5, a: 2 }
/** A signal that opens the other side. */
const opens = { signalId: 2, side: '2', q: 5, limit: 90 } as const

test.each([
  ['of a reversal, to the other side of the strategy', reversed, false, 7],
  ['of a symbol that is left alone, what is held and nothing beyond', reversed, true, 2],
  ['less what is still to be placed there', { ...reversed, signals: [opens] }, false, 2],
  [
    'not less what has ended there',
    { ...reversed, signals: [opens], orders: [{ signalId: 2, side: '2', leaves: 0 }] },
    false,
    7,
  ],
  ['nor what is not opened later', { ...reversed, signals: [{ ...opens, doNotSyncToOpen: true }] }, false, 7],
  ['of one that is left alone and not held, nothing', { p: -5 }, true, 0],
] as [string, Given, boolean, number][])('%s', (_, given, excluded, reach) => {
  expect(reachInGrace(readSymbol(inputOf(given), 'ES', excluded), '2').toNumber()).toBe(reach)
})
