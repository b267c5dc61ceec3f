/** What an exit in its grace may still trade where AutoSync does not ask itself: the owner's exits are cut to it. */
import { expect, test } from 'vitest'
import { type Given, inputOf } from '../../../test/support/mirror-sync-given.ts'
import { reachInGrace } from './mirror-sync-copies.ts'
import { readSymbol } from './mirror-sync-state.ts'

const reversed: Given = { p: -5, a: 2 }

test.each([
  ['of a reversal, to the other side of the strategy', reversed, false, 7],
  ['of a symbol that is left alone, what is held and nothing beyond', reversed, true, 2],
  ['of one that is left alone and not held, nothing', { p: -5 }, true, 0],
] as const)('%s', (_, given, excluded, reach) => {
  expect(reachInGrace(readSymbol(inputOf(given), 'ES', excluded), '2').toNumber()).toBe(reach)
})
