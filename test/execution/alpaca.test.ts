/** Orders and their followers at Alpaca: what is sent, what is heard, and what becomes of answers that are lost. */
import { afterAll, afterEach, describe, expect, test } from 'vitest'
import { connectAlpaca } from '../../src/execution/brokers/alpaca/alpaca.ts'
import { BrokerUnreachable, type OrderTicket } from '../../src/execution/brokers/broker.ts'
import { mirrorSignals } from '../../src/execution/mirror/mirror.ts'
import { sendOrders } from '../../src/execution/mirror/sender.ts'
import { publishQuotes } from '../../src/execution/orders/matcher.ts'
import { Refusal } from '../support/alpaca-book.ts'
import { type Fault, startAlpacaStandIn } from '../support/alpaca-stand-in.ts'
import { testDatabase } from '../support/database.ts'
import { accountViolations } from './account-world.ts'
import { makeAlpacaScene, makeAlpacaWorld } from './alpaca-world.ts'
import { endSignal, quote } from './world.ts'

const { db } = await testDatabase()
const world = await makeAlpacaWorld(db)
const { alpaca } = world
afterEach(() => {
  alpaca.fault = () => undefined
  alpaca.eventFault = () => undefined
  alpaca.distort = undefined
  alpaca.isSlowToCancel = false
})
afterAll(() => world.close())

const scene = () => makeAlpacaScene(world)

/** Six at a limit, as the scene's account buys them to open. */
const ticketOf = (
  { accountId, book, symbol, instrumentId }: Awaited<ReturnType<typeof scene>>,
  clientOrderId: string,
  limitPx: string,
): OrderTicket => ({
  accountId,
  account: book.number,
  clientOrderId,
  symbol,
  side: '1',
  ordType: '2',
  timeInForce: '1',
  positionEffect: 'O',
  instrumentId,
  quantity: '6',
  limitPx,
  stopPx: null,
})

/** One request of this method about orders goes wrong; the others do not. */
function failOnce(method: string, fault: Fault): void {
  let left = 1
  alpaca.fault = (verb, asked) => {
    if (verb !== method || !asked.startsWith('/v2/orders') || left === 0) return undefined
    left -= 1
    return fault
  }
}

describe('an order', () => {
  test('goes out under our id and comes back as executions', async () => {
    const one = await scene()
    await one.order('1', '6', { limit: '50' })
    await world.until(async () => expect(await one.orders()).toMatchObject([{ status: '0' }]))
    expect(one.theirs()).toMatchObject([
      { side: 'buy', type: 'limit', time_in_force: 'gtc', qty: '6', limit_price: '50', status: 'new' },
    ])
    expect(one.theirs()[0]?.client_order_id).toMatch(/^LST-/)
    one.fill(2, 49.5)
    one.fill(4, 50)
    await world.until(async () => expect(await one.orders()).toMatchObject([{ status: '2', cumQty: 6 }]))
    expect(await one.held()).toBe(6)
    expect(await one.cash()).toBe(one.book.cash)
  })

  test('that Alpaca refuses is rejected with its words', async () => {
    const one = await scene()
    alpaca.fault = () => undefined
    one.book.cash = 0
    const real = alpaca.books.place
    alpaca.books.place = () => {
      throw new Refusal(403, 40310000, 'insufficient buying power')
    }
    await one.order('1', '6')
    await world.until(async () =>
      expect(await one.orders()).toMatchObject([
        { status: '8', rejectText: 'Alpaca: insufficient buying power' },
      ]),
    )
    alpaca.books.place = real
    expect(one.theirs()).toEqual([])
  })

  test('that Alpaca cannot take is refused before anything is sent', async () => {
    const one = await scene()
    alpaca.heard.length = 0
    await one.order('1', '6', { limit: '50.001' })
    await world.until(async () =>
      expect(await one.orders()).toMatchObject([
        { status: '8', rejectText: 'Alpaca takes prices in cents, below a dollar in hundredths of a cent' },
      ]),
    )
    expect(alpaca.heard).not.toContain('POST /v2/orders')
  })
})

describe('an answer that is lost', () => {
  const lost: [string, Fault, number][] = [
    ['the connection breaks before the order arrives', 'refuse', 2],
    ['the connection breaks after it', 'drop', 1],
    ['Alpaca fails before the work', 'error', 2],
    ['Alpaca fails after the work', 'late', 1],
    ['the answer is nonsense', 'malformed', 1],
    ['the answer is empty', 'empty', 1],
    ['there is a limit', 'limit', 2],
    ['the answer takes too long', 'slow', 1],
  ]
  test.each(lost)('leaves one order: %s', async (_, fault, posts) => {
    const one = await scene()
    failOnce('POST', fault)
    alpaca.heard.length = 0
    await one.order('1', '6', { limit: '50' })
    await world.until(async () => {
      await world.askAgain()
      expect(await one.orders()).toMatchObject([{ status: '0', pendingAction: null }])
    })
    expect(one.theirs()).toMatchObject([{ status: 'new' }])
    expect(alpaca.heard.filter((heard) => heard === 'POST /v2/orders')).toHaveLength(posts)
  })

  test('an id that Alpaca has already is looked up', async () => {
    const one = await scene()
    failOnce('POST', 'drop')
    await one.order('1', '6', { limit: '50' })
    await world.drain()
    // The question comes to nothing, so the order goes out again.
    const { clientOrderId } = { clientOrderId: one.theirs()[0]?.client_order_id }
    let asked = 0
    alpaca.fault = (method, path) => {
      if (method !== 'GET' || !path.includes('by_client_order_id')) return undefined
      asked += 1
      return asked === 1 ? 'error' : undefined
    }
    await world.until(async () => {
      await world.askAgain()
      expect(await one.orders()).toMatchObject([{ status: '0', pendingAction: null }])
    })
    expect(one.theirs()).toMatchObject([{ client_order_id: clientOrderId }])
  })

  test('a second order under one id is what Alpaca refuses, and that is no refusal', async () => {
    const one = await scene()
    await one.order('1', '6', { limit: '50' })
    await world.until(async () => expect(await one.orders()).toMatchObject([{ status: '0' }]))
    const clientOrderId = one.theirs()[0]?.client_order_id ?? ''
    const ticket = ticketOf(one, clientOrderId, '50')
    const place = (...tickets: OrderTicket[]) =>
      world.broker.place(world.ctx, world.brokerId, tickets, Infinity)
    expect(await place(ticket)).toEqual([{ answer: 'accepted' }])
    expect(await place({ ...ticket, side: '2' })).toEqual([{ answer: 'unknown' }])
    expect(one.theirs()).toHaveLength(1)
  })

  test('while nobody is at home nothing is sent, and nothing is unknown', async () => {
    const one = await scene()
    const gone = await startAlpacaStandIn(world.clock.now)
    await gone.close()
    const { url, streamUrl } = gone
    const lonely = await connectAlpaca({
      adapter: 'nobody',
      keyRing: world.keyRing,
      url,
      streamUrl,
      requestsPerMinute: 1_000,
    })
    const name = { accountId: one.accountId, account: one.book.number, clientOrderId: 'LST-1-S1-0' }
    expect(lonely.isUp()).toBe(true)
    expect(await lonely.cancel(world.ctx, world.brokerId, [name], Infinity)).toEqual([{ answer: 'unsent' }])
    expect(lonely.isUp()).toBe(false)
    await expect(lonely.find(world.ctx, world.brokerId, [name])).rejects.toThrow(BrokerUnreachable)
    await expect(lonely.snapshot(world.ctx, [one.accountId])).rejects.toThrow(BrokerUnreachable)
    await lonely.close()
  })
})

describe('a replacement', () => {
  /** A limit order of 6 at 50 that works. */
  async function working() {
    const one = await scene()
    const signal = await one.order('1', '6', { limit: '50' })
    await world.until(async () => expect(await one.orders()).toMatchObject([{ status: '0' }]))
    const replace = async (quantity: string, limit: string): Promise<number> => {
      await db.write.run`update signal set status = '5', ended_at = now() where id = ${signal}`
      return one.order('1', quantity, { limit, replaces: signal })
    }
    return { ...one, signal, replace }
  }

  test('is made in place', async () => {
    const one = await working()
    await one.replace('6', '51')
    await world.until(async () =>
      expect(await one.orders()).toMatchObject([{ status: '5' }, { status: '0', limitPx: 51 }]),
    )
    const [old, replacement] = one.theirs()
    expect([old?.status, replacement?.status]).toEqual(['replaced', 'new'])
    expect(replacement).toMatchObject({ qty: '6', limit_price: '51', replaces: old?.id })
    one.fill(6, 51)
    await world.until(async () => expect(await one.held()).toBe(6))
  })

  test('takes off what was executed before', async () => {
    const one = await working()
    one.fill(2, 50)
    await world.until(async () => expect(await one.held()).toBe(2))
    await one.replace('6', '51')
    await world.until(async () =>
      expect((await one.orders()).at(-1)).toMatchObject({ status: '1', cumQty: 2 }),
    )
    expect(one.theirs().at(-1)).toMatchObject({ qty: '4', filled_qty: '0' })
    one.fill(4, 51)
    await world.until(async () =>
      expect((await one.orders()).at(-1)).toMatchObject({ status: '2', cumQty: 6 }),
    )
    expect(one.holdings()).toBe(6)
  })

  test.each<[string, Fault]>([
    ['before it arrives', 'error'],
    ['after it arrived', 'drop'],
  ])('whose answer is lost %s is made once', async (_, fault) => {
    const one = await working()
    failOnce('PATCH', fault)
    await one.replace('6', '51')
    await world.until(async () => {
      await world.askAgain()
      expect(await one.orders()).toMatchObject([{ status: '5' }, { status: '0', pendingAction: null }])
    })
    expect(one.theirs()).toHaveLength(2)
  })

  test('that Alpaca refuses leaves the order as it was', async () => {
    const one = await working()
    const real = alpaca.books.replace
    alpaca.books.replace = () => {
      throw new Refusal(422, 42210000, 'cannot replace order')
    }
    await one.replace('6', '51')
    await world.until(async () => expect((await one.orders())[1]).toMatchObject({ status: '8' }))
    alpaca.books.replace = real
    expect((await one.orders())[0]).toMatchObject({ status: '0' })
    expect(one.theirs()).toMatchObject([{ status: 'new', limit_price: '50' }])
  })

  test.each([
    ['canceled', '4'],
    ['expired', 'C'],
  ] as const)('waits for the end of its order, %s, that is told and not booked yet', async (end, status) => {
    const one = await working()
    await one.replace('6', '51')
    await mirrorSignals(world.ctx)
    alpaca.eventFault = () => 'drop'
    const [old] = one.theirs()
    alpaca.books.end(one.book, old!, end)
    const name = { accountId: one.accountId, account: one.book.number, clientOrderId: old!.client_order_id }
    await world.broker.find(world.ctx, world.brokerId, [name])
    await sendOrders(world.ctx, 'alpaca', world.broker)
    await world.drain()
    expect(await one.orders()).toMatchObject([{ status }, { status: '4', attempts: 0 }])
    expect(one.theirs()).toHaveLength(1)
  })

  test('that fails on the way leaves those beside it their answers', async () => {
    const one = await working()
    const [{ client_order_id: clientOrderId = '' } = {}] = one.theirs()
    const foreign = { client_order_id: 'theirs', symbol: one.symbol, side: 'buy', type: 'limit', qty: '1' }
    alpaca.books.place(one.book, { ...foreign, limit_price: '1', time_in_force: 'gtc' })
    const ticket = ticketOf(one, clientOrderId, '51')
    const tickets = ['theirs', 'LST-T-1-S1-0'].map((replacesClientOrderId) => ({
      replacesClientOrderId,
      ...ticket,
    }))
    expect(await world.broker.replace(world.ctx, world.brokerId, tickets, Infinity)).toEqual([
      { answer: 'unknown' },
      { answer: 'rejected', text: 'Alpaca has no such order', unknownOrder: true },
    ])
  })

  /** The strategy's own order has filled and the grace is over: the copy turns to market. */
  async function chase({ symbol }: Awaited<ReturnType<typeof working>>): Promise<void> {
    await publishQuotes(world.ctx, [quote(symbol, '49', '49.5', world.clock.now())])
    await world.drain()
    world.clock.time += 31_000
    await world.drain()
  }

  test('of another type withdraws the order and is placed anew for the rest', async () => {
    const one = await working()
    one.fill(2, 50)
    await world.until(async () => expect(await one.held()).toBe(2))
    await chase(one)
    await world.until(async () =>
      expect(await one.orders()).toMatchObject([{ status: '5' }, { status: '1', ordType: '1', cumQty: 2 }]),
    )
    expect(one.theirs()).toMatchObject([
      { status: 'canceled', filled_qty: '2' },
      { status: 'new', type: 'market', qty: '4' },
    ])
    one.fill(4, 52)
    await world.until(async () => expect(await one.held()).toBe(6))
    expect(one.holdings()).toBe(6)
    expect(await accountViolations(world)).toEqual([])
  })

  test('of another type waits until the order is certainly gone', async () => {
    const one = await working()
    alpaca.isSlowToCancel = true
    await chase(one)
    expect(one.theirs()).toMatchObject([{ status: 'pending_cancel' }])
    one.fill(1, 50)
    const [old] = one.theirs()
    if (old) alpaca.books.end(one.book, old, 'canceled')
    await world.until(async () => {
      await world.askAgain()
      expect((await one.orders()).at(-1)).toMatchObject({
        rejectText: null,
        status: '1',
        ordType: '1',
        cumQty: 1,
      })
    })
    expect(one.theirs()).toMatchObject([{ filled_qty: '1' }, { type: 'market', qty: '5' }])
  })
})

describe('a cancel', () => {
  test('ends the order', async () => {
    const one = await scene()
    const signal = await one.order('1', '6', { limit: '50' })
    await world.until(async () => expect(await one.orders()).toMatchObject([{ status: '0' }]))
    await endSignal(db.write, signal, '4', new Date(world.clock.now()).toISOString())
    await world.until(async () => expect(await one.orders()).toMatchObject([{ status: '4' }]))
    expect(one.theirs()).toMatchObject([{ status: 'canceled' }])
  })

  test('comes too late for an order that has filled, and the fill stands', async () => {
    const one = await scene()
    const signal = await one.order('1', '6', { limit: '50' })
    await world.until(async () => expect(await one.orders()).toMatchObject([{ status: '0' }]))
    alpaca.eventFault = () => 'drop'
    one.fill(6, 50)
    await endSignal(db.write, signal, '4', new Date(world.clock.now()).toISOString())
    world.clock.time += 61_000
    await world.until(async () => expect((await one.orders())[0]).toMatchObject({ status: '2', cumQty: 6 }))
    expect(await one.held()).toBe(6)
  })
})
