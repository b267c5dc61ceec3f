/** What is booked one to one, since nobody quotes its currency, is told to the operator: by incident and by the doctor. */
import { expect, test } from 'vitest'
import { examine } from '../../src/bin/doctor.ts'
import { dec } from '../../src/domain/decimal.ts'
import { bookActions } from '../../src/execution/orders/corporate-actions.ts'
import { enterActions } from '../../src/execution/orders/enter-actions.ts'
import { publishQuotes } from '../../src/execution/orders/matcher.ts'
import { markSetups } from '../../src/storage/mirror/sync-due.ts'
import { testDatabase } from '../support/database.ts'
import { addBroker } from '../support/followers.ts'
import { holdLocks, untilWaiting } from '../support/locks.ts'
import { makeScene } from './account-scene.ts'
import { makeAccountWorld } from './account-world.ts'
import { addInstrument, close, opening, quote } from './world.ts'

const { db } = await testDatabase()
const world = makeAccountWorld(db)
const { ctx, paper } = world
const brokerId = await addBroker(db)
const scene = makeScene(world, brokerId)

const told = () =>
  db.read.rows<{ at: number; detail: object }>`
    select occurred_at as at, detail from incident where kind = 'NoExchangeRate' order by incident_key`
const details = async () => (await told()).map(({ detail }) => detail)
const found = async () => (await examine(db, Date.now())).find(({ name }) => name === 'rates')
const pairOf = (accountCurrency: string, currency: string) => ({
  accountCurrency,
  currency,
  missingQuote: currency + accountCurrency,
})

test('by fill, execution, dividend and fraction of a split, once a day of each pair, until the pair is quoted', async () => {
  const { order, symbol, instrumentId, accountId } = await scene()
  await world.quote(symbol, '99', '100')
  await order('1', '2')
  await world.drain()
  expect(await details(), 'in its own currency').toEqual([])
  expect(await found()).toEqual({
    name: 'rates',
    ok: true,
    says: 'nothing is held whose currency has no rate',
  })

  await db.write.run`update instrument set currency = 'CHF' where id = ${instrumentId}::bigint`
  await db.write.run`update account set currency = 'EUR' where id = ${accountId}::bigint`
  await order('1', '2')
  await world.drain()
  await order('1', '2')
  await world.drain()
  const both = [pairOf('EUR', 'CHF'), pairOf('USD', 'CHF')]
  expect(await details()).toEqual(both)
  expect((await told())[0]).toMatchObject({ at: world.clock.time })
  expect(await found()).toMatchObject({
    ok: false,
    says: 'held and counted one to one until it is quoted: CHF in EUR (quote CHFEUR), CHF in USD (quote CHFUSD)',
  })

  world.clock.time += 86_400_000
  const day = new Date(world.clock.time).toISOString().slice(0, 10)
  await enterActions(ctx, [{ kind: 'dividend', symbol, day, amount: dec('0.5') }])
  await bookActions(ctx)
  expect(await details(), 'of the next day').toEqual([both[0], both[0], both[1], both[1]])

  const ofAccount = async () => (await details()).filter((detail) => JSON.stringify(detail).includes('EUR'))
  const splitWith5 = async (fresh: string, old: string) => {
    world.clock.time += 86_400_000
    await db.write.run`update account_position set quantity = 5 where account_id = ${accountId}::bigint`
    const day = new Date(world.clock.time).toISOString().slice(0, 10)
    expect(
      await enterActions(ctx, [{ kind: 'split', symbol, day, new: dec(fresh), old: dec(old) }]),
    ).toMatchObject({ added: 1 })
    await bookActions(ctx)
  }
  await splitWith5('2', '1')
  expect(await ofAccount(), 'nothing was paid').toHaveLength(2)
  await splitWith5('3', '2')
  expect(await ofAccount(), 'for a half').toHaveLength(3)

  const pair = { securityType: 'FOR', calendar: 'FOREX', pointValue: '1000' } as const
  for (const name of ['USDCHF', 'EURUSD']) {
    await addInstrument(db, { ...pair, symbol: name })
    await publishQuotes(ctx, [quote(name, '1.1', '1.1', world.clock.time)])
  }
  expect(await found()).toMatchObject({ ok: true })
  world.clock.time += 86_400_000
  const before = await details()
  const execution = { brokerId, accountId, clientOrderId: null, symbol, side: '1', px: dec(50) } as const
  await paper.controls.execution(ctx, { ...execution, quantity: dec(2) })
  await world.drain()
  expect(await details(), 'with a rate').toEqual(before)
})

/** A future in `currency` that its strategy and an account in euros hold, and whose end is due. */
async function ending(currency: string) {
  const { order, symbol, instrumentId, accountId, setupId } = await scene()
  world.clock.time = opening
  await world.quote(symbol, '10', '10')
  await order('1', '100', { limit: '11' })
  await world.drain()
  await db.write.run`update account set currency = 'EUR' where id = ${accountId}::bigint`
  await db.write.run`
    update instrument set security_type = 'FUT', currency = ${currency}, last_trading_day = '2024-03-12',
      due_at = '2024-03-12T20:00Z'
    where id = ${instrumentId}::bigint`
  world.clock.time = close + 60_000
  return setupId
}

test('by the end of a contract, of strategy and account', async () => {
  await ending('SEK')
  await bookActions(ctx)
  const ofSwedish = (await details()).filter((detail) => JSON.stringify(detail).includes('SEK'))
  expect(ofSwedish).toEqual([pairOf('EUR', 'SEK'), pairOf('USD', 'SEK')])
})

test('an end that waits to tell keeps nobody from AutoSync, which is told last of all', async () => {
  const setupId = await ending('NOK')
  const release = await holdLocks(
    db,
    (tx) => tx.run`
      insert into incident (incident_key, kind, detail, occurred_at)
      values ('NoExchangeRate:NOKEUR:2024-03-12', 'Held', '{}', now())`,
  )
  const booking = bookActions(ctx)
  await untilWaiting(db.read)
  await db.transaction((tx) => markSetups(tx, [setupId], world.clock.time), { statementTimeoutMs: 2_000 })
  await release()
  await booking
  expect(await details()).toContainEqual(pairOf('USD', 'NOK'))
})
