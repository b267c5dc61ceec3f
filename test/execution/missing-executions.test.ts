/** Executions that a broker has and that were never heard of: booked from its total until their own reports come. */
import { describe, expect, test } from 'vitest'
import { dec } from '../../src/domain/decimal.ts'
import { bookActions } from '../../src/execution/orders/corporate-actions.ts'
import { enterActions } from '../../src/execution/orders/enter-actions.ts'
import { insertReports } from '../../src/storage/brokers/report-intake.ts'
import { testDatabase } from '../support/database.ts'
import { addBroker } from '../support/followers.ts'
import { makeScene } from './account-scene.ts'
import { accountViolations, makeAccountWorld } from './account-world.ts'
import { makeSilence } from './silence.ts'

const { db } = await testDatabase()
const world = makeAccountWorld(db)
const { ctx, paper } = world
const brokerId = await addBroker(db)
const scene = makeScene(world, brokerId)
const { unheard, minutes, incidentsOf } = makeSilence(world)

/** A limit order of 6 works at the broker, and nothing has been heard of the last `quantity` that it filled at `px`. */
async function partlyUnheard(quantity: number, px: number) {
  const one = await scene()
  await one.order('1', '6', { limit: '50' })
  await world.drain()
  const { clientOrderId } = await db.read.one<{ clientOrderId: string }>`
    select client_order_id as "clientOrderId" from paper_order where account_id = ${one.accountId}`
  const { accountId, symbol } = one
  const fill = (filled: number, at: number): Promise<string> =>
    paper.controls.execution(ctx, {
      brokerId,
      accountId,
      clientOrderId,
      symbol,
      side: '1',
      quantity: dec(filled),
      px: dec(at),
    })
  const execId = await unheard(accountId, () => fill(quantity, px))
  return { ...one, execId, fill }
}

describe('missing executions', () => {
  test('are booked from the broker’s total once they have been missing for a minute', async () => {
    const { orders, held, accountId, fill } = await partlyUnheard(2, 48)
    await fill(1, 45)
    await world.drain()
    expect(await held()).toBe(1)
    await minutes(1)
    expect(await orders()).toMatchObject([{ status: '1', cumQty: 1 }])
    await minutes(1)
    expect(await orders()).toMatchObject([{ status: '1', cumQty: 3, avgPx: 47 }])
    expect(await held()).toBe(3)
    expect(
      await db.read
        .rows`select quantity::float8, px::float8 from execution where account_id = ${accountId} and is_inferred`,
    ).toEqual([{ quantity: 2, px: 48 }])
    expect(await incidentsOf(accountId)).toEqual(['InferredFill'])
    await minutes(3)
    expect(await held()).toBe(3)
    expect(await accountViolations(world)).toEqual([])
  })

  test('replace what was inferred when they come after all', async () => {
    const { orders, held, cash, accountId, execId } = await partlyUnheard(6, 48)
    await minutes(2)
    expect(await orders()).toMatchObject([{ status: '2', cumQty: 6 }])
    await paper.controls.duplicate(ctx, execId)
    await world.drain()
    expect(await orders()).toMatchObject([{ status: '2', cumQty: 6, avgPx: 48 }])
    expect(await held()).toBe(6)
    expect(await cash()).toBe(100_000 - 6 * 48)
    const standing = await db.read.rows`
      select exec_id as "execId" from execution e where account_id = ${accountId} and busts is null
        and not exists (select from execution b where b.account_id = e.account_id and b.busts = e.exec_id)`
    expect(standing).toEqual([{ execId }])
    expect(await incidentsOf(accountId)).toEqual(['InferredFill'])
    expect(await accountViolations(world)).toEqual([])
  })

  test('stay inferred beside a new one that is told', async () => {
    const { held, cash, accountId, execId, fill, orders } = await partlyUnheard(2, 48)
    await minutes(2)
    expect(await held()).toBe(2)
    await fill(3, 46)
    await world.drain()
    expect(await held()).toBe(5)
    expect(await orders()).toMatchObject([{ status: '1', cumQty: 5, avgPx: 46.8 }])
    await paper.controls.duplicate(ctx, execId)
    await world.drain()
    expect(await held()).toBe(5)
    expect(await cash()).toBe(100_000 - 2 * 48 - 3 * 46)
    expect(await incidentsOf(accountId)).toEqual(['InferredFill'])
    expect(await accountViolations(world)).toEqual([])
  })

  test('stay inferred beside a new one also of an order that was sent anew', async () => {
    const { accountId, symbol, order, orders, held } = await scene()
    await world.quote(symbol, '99', '100')
    await order('1', '6')
    await world.drain()
    await order('2', '6', { limit: '110' })
    await world.drain()
    const working = () => db.read.one<{ clientOrderId: string }>`
      select client_order_id as "clientOrderId" from paper_order
      where account_id = ${accountId} and status in ('0', '1')`
    const fill = async (quantity: number): Promise<string> => {
      const { clientOrderId } = await working()
      const terms = { brokerId, accountId, clientOrderId, symbol, side: '2' as const, px: dec(110) }
      return paper.controls.execution(ctx, { ...terms, quantity: dec(quantity) })
    }
    await fill(1)
    const { clientOrderId } = await working()
    await db.write.run`update paper_order set status = '4' where client_order_id = ${clientOrderId}`
    const about = { brokerId, accountId, clientOrderId, symbol, text: null, occurredAt: world.clock.time }
    await insertReports(db.write, [{ ...about, kind: 'cancel', reportKey: `c${clientOrderId}` }])
    await world.drain()
    expect(await orders()).toMatchObject([{ status: '2' }, { status: '4' }, { status: '1', cumQty: 1 }])
    await unheard(accountId, () => fill(2))
    await minutes(2)
    expect(await held()).toBe(3)
    await fill(1)
    await world.drain()
    expect(await held()).toBe(2)
    expect(await accountViolations(world)).toEqual([])
  })

  test('stay inferred beside a new one that is told while more are missing', async () => {
    const { held, cash, accountId, fill } = await partlyUnheard(2, 48)
    await unheard(accountId, () => fill(1, 45))
    await minutes(2)
    expect(await held()).toBe(3)
    await unheard(accountId, () => fill(1, 44))
    await fill(2, 46)
    await world.drain()
    expect(await held()).toBe(5)
    await minutes(2)
    expect(await held()).toBe(6)
    expect(await cash()).toBe(100_000 - 2 * 48 - 45 - 44 - 2 * 46)
    expect(await accountViolations(world)).toEqual([])
  })

  test('leave the rest inferred where one of two comes', async () => {
    const { held, accountId, execId, fill, orders } = await partlyUnheard(2, 48)
    await unheard(accountId, () => fill(3, 46))
    await minutes(2)
    expect(await held()).toBe(5)
    await paper.controls.duplicate(ctx, execId)
    await world.drain()
    expect(await held()).toBe(5)
    expect(await orders()).toMatchObject([{ status: '1', cumQty: 5 }])
    const left = await db.read.rows`
      select quantity::float8 from execution e where account_id = ${accountId} and is_inferred
        and not exists (select from execution b where b.account_id = e.account_id and b.busts = e.exec_id)`
    expect(left).toEqual([{ quantity: 3 }])
    expect(await accountViolations(world)).toEqual([])
  })

  test('replace what was inferred before a dividend and a split, and neither is paid twice', async () => {
    const { held, cash, execId, symbol } = await partlyUnheard(5, 48)
    await minutes(2)
    await world.quote(symbol, '60', '60')
    const day = '2024-03-13'
    await enterActions(ctx, [
      { kind: 'dividend', symbol, day, amount: dec(1) },
      { kind: 'split', symbol, day, new: dec(1), old: dec(2) },
    ])
    world.clock.time = Date.parse('2024-03-13T14:00:00Z')
    await bookActions(ctx)
    await world.drain()
    // 5 were paid at 48, five dividends of 1, and half a share of 120.
    const booked = 100_000 - 240 + 5 + 60
    expect([await held(), await cash()]).toEqual([2, booked])
    await paper.controls.duplicate(ctx, execId)
    await world.drain()
    expect([await held(), await cash()]).toEqual([2, booked])
    expect(await accountViolations(world)).toEqual([])
  })

  test('are not made up for where the order had filled in part before a split: their own report is waited for', async () => {
    const { held, symbol, fill, accountId } = await partlyUnheard(1, 48)
    await fill(2, 48)
    await world.drain()
    await minutes(2)
    await world.quote(symbol, '60', '60')
    await enterActions(ctx, [{ kind: 'split', symbol, day: '2024-03-14', new: dec(1), old: dec(2) }])
    world.clock.time = Date.parse('2024-03-14T14:00:00Z')
    await bookActions(ctx)
    await world.drain()
    const execId = await unheard(accountId, () => fill(1, 90))
    await minutes(2)
    expect([await held(), (await incidentsOf(accountId)).at(-1)]).toEqual([1, 'MissingExecutions'])
    await paper.controls.duplicate(ctx, execId)
    await world.drain()
    expect(await held()).toBe(2)
    expect(await accountViolations(world)).toEqual([])
  })
})
