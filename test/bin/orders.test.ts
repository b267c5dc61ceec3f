/** An order whose broker and we disagree for good, from the list to the operator's last word. */
import { describe, expect, test } from 'vitest'
import { markSetups } from '../../src/storage/mirror/sync-due.ts'
import { makeScene } from '../execution/account-scene.ts'
import { makeAccountWorld } from '../execution/account-world.ts'
import { endSignal } from '../execution/world.ts'
import { commandLine } from '../support/command-line.ts'
import { testDatabase } from '../support/database.ts'
import { addBroker, addFollowers } from '../support/followers.ts'

const { db, url } = await testDatabase()
const { runHere: run } = commandLine(url)
const world = makeAccountWorld(db)
// As the command line names the orders of a demo.
Object.assign(world.ctx.settings, { environment: 'D' })

test('an order that its broker does not know is listed, and settled once', async () => {
  const { order, orders, accountId, symbol } = await makeScene(world, await addBroker(db))()
  expect((await run('orders', 'differing')).output).toBe('No order differs.')
  await order('1', '6', { limit: '50' })
  await world.drain()
  await db.write.run`update account set is_sync_enabled = false where id = ${accountId}`
  await db.write.run`delete from paper_order where account_id = ${accountId}`
  for (let passed = 0; passed < 3; passed += 1) {
    world.clock.time += 60_001
    await world.drain()
  }
  const [{ id } = { id: 0 }] = await orders()
  const listed = (await run('orders', 'differing')).output
  expect(listed).toContain(`${id}: account `)
  expect(listed).toContain(
    `buy ${symbol}: here status 0 and 0 executed, at the broker unknown (absent) since 20`,
  )
  const { differing } = JSON.parse((await run('orders', 'differing', '--json')).output)
  expect(differing).toMatchObject([
    { id, accountId, symbol, booked: '0', broker: { gaps: ['absent'], status: null, cumQty: null } },
  ])

  const settle = (...words: string[]) => run('orders', 'settle', String(id), ...words)
  const refusals: [string[], string][] = [
    [['--executed', 'x'], '--executed is a number with at most 8 decimals'],
    [['--average', '50'], '--average is that of what it --executed'],
    [
      ['--executed', '2'],
      `order ${id} is not settled: what is missing has a price above 0: say its --average`,
    ],
    [
      ['--executed', '7', '--average', '50'],
      `order ${id} is not settled: that is more than the order was for`,
    ],
  ]
  for (const [words, says] of refusals)
    expect(await settle(...words)).toEqual({ status: 1, output: '', errors: `lockstep: ${says}` })

  expect((await settle('--executed', '2', '--average', '49.5')).output).toBe(`Order ${id} is settled.`)
  await world.drain()
  expect(await orders()).toMatchObject([{ status: '4', cumQty: 2, avgPx: 49.5 }])
  const noted = await db.read.rows`
    select operation, object from audit_entry where actor = 'operator' and object like 'account_order %'`
  expect(noted).toEqual([{ operation: expect.any(String), object: `account_order ${id}` }])
  expect((await settle()).errors).toBe(
    `lockstep: order ${id} is not settled: it has ended here, and nothing is missing: cancel it at its broker`,
  )
  expect((await run('orders', 'settle', '999')).errors).toBe(
    'lockstep: order 999 is not settled: its broker and we do not disagree on it (orders differing)',
  )
})

describe('why an account got an order', () => {
  const told = async (...words: string[]) => (await run('orders', 'why', ...words)).output.split('\n')

  test('every follower of a signal is told of, with the code and the numbers of its decision', async () => {
    const brokerId = await addBroker(db)
    const { order, strategyId, symbol, accountId, setupId } = await makeScene(
      world,
      brokerId,
    )({ scaling: 50 })
    const [tooSmall = 0] = await addFollowers(db, { strategyId, brokerId, count: 1, scaling: 5 })
    await world.quote(symbol, '99', '100')
    const signal = await order('1', '10', { limit: '100' })
    await db.write.run`update signal set request_id = 'asked-so', reference_px = 100 where id = ${signal}`
    await world.drain()
    const accounts = await db.read.rows<{ account: string }>`
      select account from account a join setup on setup.account_id = a.id
      where setup.id in (${setupId}, ${tooSmall}) order by setup.id`
    const [copied, skipped] = accounts.map(({ account }) => account)
    expect(await told(String(signal))).toEqual([
      expect.stringMatching(
        `^Signal ${signal} of strategy ${strategyId}, 20.*, request asked-so: buy 10 ${symbol} limit 100; status 2, 10 filled at 100$`,
      ),
      expect.stringMatching(
        `^${copied} at broker ${brokerId}: buy 5 ${symbol} as LSD-.*, status 2, 5 filled at 100; from the strategy to hold 10, 50 % of it, 0 held, a price of 100$`,
      ),
      `${skipped} at broker ${brokerId}: no order, RoundedToZero; from the strategy to hold 10, 5 % of it, 0 held, a price of 100`,
    ])
    expect(await told(String(signal), '--account', skipped ?? '')).toHaveLength(2)
    expect((await told(String(signal), '--account', 'X-1'))[1]).toBe('Account X-1 did not follow it.')

    const { decisions } = JSON.parse((await run('orders', 'why', String(signal), '--json')).output)
    const ids = await db.read.rows<{ clientOrderId: string }>`
      select client_order_id as "clientOrderId" from paper_order where account_id = ${accountId}`
    expect(decisions).toMatchObject([
      { account: copied, reason: null, order: { clientOrderId: ids[0]?.clientOrderId, filled: '5' } },
      { account: skipped, reason: 'RoundedToZero', scalingPercentage: 5, order: null },
    ])
  })

  test('who is not decided on yet is not said to have stayed away', async () => {
    const { order } = await makeScene(world, await addBroker(db))()
    const signal = await order('1', '10', { limit: '50' })
    expect((await told(String(signal))).slice(1)).toEqual(['Not all of its followers are decided on yet.'])
  })

  test('what ended before it worked is not said to be undecided for ever', async () => {
    const { order } = await makeScene(world, await addBroker(db))()
    const signal = await order('1', '10', { limit: '50' })
    await db.write.run`update signal set working_at = null where id = ${signal}`
    await endSignal(db.write, signal, '8', '2024-03-12T14:00:00Z')
    await world.drain()
    expect((await told(String(signal))).slice(1)).toEqual(['Nobody followed it.'])
  })

  test('an order that AutoSync added is told of by its own number', async () => {
    const { order, orders, symbol, accountId, setupId } = await makeScene(world, await addBroker(db))()
    await world.quote(symbol, '99', '100')
    await order('1', '10')
    await world.drain()
    await db.write.run`update setup set scaling_percentage = 20 where id = ${setupId}`
    await db.transaction((tx) => markSetups(tx, [setupId], world.clock.time))
    await world.drain()
    expect(await orders()).toHaveLength(2)
    const { number } = await db.read.one<{ number: number }>`
      select own_number as number from account_order where account_id = ${accountId} and source = 'Y'`
    expect(await told(String(number))).toEqual([
      expect.stringMatching(`sell 8 ${symbol} as LSD-.*, status 2, 8 filled at 99 \\(AutoSync\\), Reducing;`),
    ])
    expect(await run('orders', 'why', String(number), '--account', 'X-1')).toEqual({
      status: 1,
      output: '',
      errors: `lockstep: nothing is listed under the number ${number} for account X-1`,
    })
    expect(await run('orders', 'why', '999999')).toEqual({
      status: 1,
      output: '',
      errors: 'lockstep: nothing is listed under the number 999999',
    })
  })
})
