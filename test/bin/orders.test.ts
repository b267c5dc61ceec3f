/** An order whose broker and we disagree for good, from the list to the operator's last word. */
import { expect, test } from 'vitest'
import { makeScene } from '../execution/account-scene.ts'
import { makeAccountWorld } from '../execution/account-world.ts'
import { commandLine } from '../support/command-line.ts'
import { testDatabase } from '../support/database.ts'
import { addBroker } from '../support/followers.ts'

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
