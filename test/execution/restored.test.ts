/** A platform that was put back to an older state, at a broker that has seen what came after. */
import { afterAll, expect, test } from 'vitest'
import { clientOrderId } from '../../src/domain/orders/client-order-id.ts'
import { auditViolations } from '../../src/storage/operating/audit.ts'
import { leapNumbers } from '../../src/storage/work/numbers.ts'
import { testDatabase } from '../support/database.ts'
import { type AlpacaWorld, makeAlpacaScene, makeAlpacaWorld } from './alpaca-world.ts'

const { db } = await testDatabase()
const world: AlpacaWorld = await makeAlpacaWorld(db)
afterAll(() => world.close())

test('what it lost is told, and what it does next is not taken for it', async () => {
  const scene = await makeAlpacaScene(world)
  await scene.order('1', '6', { limit: '50' })
  await world.until(async () => expect(await scene.orders()).toMatchObject([{ status: '0' }]))
  scene.fill(6, 50)
  await world.until(async () => expect(await scene.held()).toBe(6))

  // After the copy was made the first platform bought four more; the copy knows nothing of them.
  const { last } = await db.read.one<{ last: number }>`select max(id) as last from signal`
  const { environment } = world.ctx.settings
  const lost = { environment, setupId: scene.setupId, source: 'S', sourceId: last + 1, revision: 0 } as const
  const body = { symbol: scene.symbol, side: 'buy', type: 'limit', qty: '4', limit_price: '50' }
  world.alpaca.books.place(scene.book, { ...body, client_order_id: clientOrderId(lost) })
  scene.fill(4, 50)
  const told = () =>
    db.read.rows<{ kind: string }>`select distinct kind from incident where kind = 'UnknownOrder'`
  await world.until(async () => expect(await told()).toHaveLength(1))
  expect(await scene.held(), 'of the strategy').toBe(6)

  await leapNumbers(db.write, Date.now())
  await scene.order('1', '3', { limit: '50' })
  await world.until(async () => expect(scene.theirs()).toHaveLength(3))
  await world.until(async () =>
    expect(await scene.orders()).toMatchObject([{ status: '2' }, { status: '0', cumQty: 0 }]),
  )
  scene.fill(3, 50)
  await world.until(async () => expect(await scene.held()).toBe(9))
  expect(scene.holdings()).toBe(13)
  expect(await auditViolations(db.read)).toEqual([])
})

test('a second platform of the same copy gives no number of the first', async () => {
  const last = async () =>
    (
      await db.read.one<{ last: number }>`
        select max(last_value)::int8 as last from pg_sequences where sequencename = 'signal_id_seq'`
    ).last
  const copied = await last()
  const now = Date.parse('2027-01-01T00:00:00Z')
  const begun = async (at: number) => {
    await db.write.rows`select setval(pg_get_serial_sequence('signal', 'id'), ${copied}::bigint)`
    await leapNumbers(db.write, at)
    return last()
  }
  const first = await begun(now)
  expect(first - copied).toBeGreaterThan(100_000_000)
  // A minute later, and the first one has given a hundred thousand numbers meanwhile.
  expect(await begun(now + 60_000)).toBeGreaterThan(first + 100_000)
})
