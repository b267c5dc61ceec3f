/**
 * The books of many followers against the definition: after every step of a random strategy each follower holds
 * what the target function says, the broker agrees, and every audit rule is silent.
 */
import fc from 'fast-check'
import { expect, test } from 'vitest'
import { dec } from '../../src/domain/decimal.ts'
import { target, unlimited } from '../../src/domain/mirror/mirror-target.ts'
import { testDatabase } from '../support/database.ts'
import { addBroker, addFollowers } from '../support/followers.ts'
import { accountViolations, makeAccountWorld, readBroker, readHeld } from './account-world.ts'
import { addInstrument, addStrategy, place, readBook } from './world.ts'

const { db } = await testDatabase()
const world = makeAccountWorld(db)
const brokerId = await addBroker(db)

interface FollowerKind {
  scaling: number
  maximumFutures: number | null
}

/** What each kind of follower should hold now. */
const expected = ({ scaling, maximumFutures }: FollowerKind, strategyPosition: number): number =>
  target(dec(strategyPosition), {
    assetClass: 'FUT',
    settings: {
      ...unlimited,
      scalingPercentage: dec(scaling),
      maximum: maximumFutures === null ? null : dec(maximumFutures),
    },
    held: dec(0),
    referencePrice: dec(100),
  }).quantity.toNumber() + 0 // no negative zero

const kinds = fc.array(
  fc.record({
    scaling: fc.integer({ min: 1, max: 1000 }),
    maximumFutures: fc.option(fc.integer({ min: 0, max: 40 })),
  }),
  { minLength: 1, maxLength: 5 },
)
/** Signed sizes; a size against the position closes, at most what is held. */
const moves = fc.array(
  fc.integer({ min: -12, max: 12 }).filter((move) => move !== 0),
  { minLength: 1, maxLength: 10 },
)

async function run(followers: readonly FollowerKind[], steps: readonly number[]): Promise<void> {
  const strategyId = await addStrategy(db, '10000000')
  const { id: instrumentId, symbol } = await addInstrument(db, { securityType: 'FUT' })
  const setups: { setupId: number; kind: FollowerKind }[] = []
  for (const kind of followers) {
    const [setupId = 0] = await addFollowers(db, { strategyId, brokerId, count: 1, ...kind })
    setups.push({ setupId, kind })
  }
  let position = 0
  for (const [n, move] of steps.entries()) {
    world.clock.time += 1_000
    await world.quote(symbol, String(100 + n), String(101 + n))
    const closes = position !== 0 && Math.sign(move) !== Math.sign(position)
    const quantity = closes ? Math.min(Math.abs(move), Math.abs(position)) : Math.abs(move)
    const side = move > 0 ? '1' : '2'
    await place(world, {
      strategyId,
      instrumentId,
      side,
      quantity: String(quantity),
      positionEffect: closes ? 'C' : 'O',
    })
    await world.drain()
    position += Math.sign(move) * quantity
    expect((await readBook(world, strategyId, instrumentId)).quantity).toBe(position)
    for (const { setupId, kind } of setups) {
      const held = await readHeld(world, setupId, instrumentId)
      expect([kind, position, held]).toEqual([kind, position, expected(kind, position)])
      expect(await readBroker(world, setupId, symbol)).toBe(held)
    }
  }
}

test('followers hold what the target function says after every step', { timeout: 120_000 }, async () => {
  await fc.assert(fc.asyncProperty(kinds, moves, run), { numRuns: 12 })
  expect(await accountViolations(world)).toEqual([])
})
