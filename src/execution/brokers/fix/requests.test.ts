import { describe, expect, test } from 'vitest'
import type { FixOrder } from '../../../storage/brokers/fix-sessions.ts'
import type { OrderTicket } from '../broker.ts'
import {
  askOrder,
  askPositions,
  askWorking,
  cancelIdOf,
  cancelOrder,
  isSendable,
  newOrder,
  nonce,
  orderIdOf,
  replaceOrder,
} from './requests.ts'

const at = Date.parse('2024-03-12T14:00:00Z')
const ticket: OrderTicket = {
  accountId: 1,
  account: 'ACC',
  clientOrderId: 'LST-1-S1-0',
  instrumentId: 7,
  symbol: 'AAPL',
  side: '1',
  ordType: '1',
  timeInForce: '0',
  positionEffect: 'O',
  quantity: '10',
  limitPx: null,
  stopPx: null,
}
const order: FixOrder = {
  clientOrderId: 'LST-1-S1-0',
  account: 'ACC',
  symbol: 'AAPL',
  side: '1',
  positionEffect: 'O',
  orderQty: '10.00000000',
  securityType: 'CS',
  maturityMonthYear: null,
  putOrCall: null,
  strike: null,
  currency: 'USD',
  replacedQty: '0',
  replacedValue: '0',
}
const habits = { marksShortSales: true }
const common = {
  Account: 'ACC',
  HandlInst: '1',
  Instrument: { Symbol: 'AAPL', SecurityType: 'CS' },
  Side: '1',
  TransactTime: new Date(at),
  OrderQtyData: { OrderQty: '10' },
  OrdType: '1',
  TimeInForce: '0',
  Currency: 'USD',
}

describe('what is asked of a broker', () => {
  test('a market order', () => {
    expect(newOrder(ticket, order, at, habits)).toEqual({
      type: 'D',
      fields: { ClOrdID: 'LST-1-S1-0', ...common, PositionEffect: 'O' },
    })
  })

  test('prices go out without superfluous zeros', () => {
    const limited = { ...ticket, ordType: '2', limitPx: '90.500000000000' } as const
    expect(newOrder(limited, order, at, habits).fields).toMatchObject({ OrdType: '2', Price: '90.5' })
    const stopped = { ...ticket, ordType: '3', stopPx: '80.000000000000' } as const
    expect(newOrder(stopped, order, at, habits).fields).toMatchObject({ OrdType: '3', StopPx: '80' })
    expect(newOrder(stopped, order, at, habits).fields).not.toHaveProperty('Price')
  })

  test.each([
    ['a sale that opens a stock', 'CS', '2', 'O', true, '5'],
    ['where the broker does not want it marked', 'CS', '2', 'O', false, '2'],
    ['a sale that closes', 'CS', '2', 'C', true, '2'],
    ['a future', 'FUT', '2', 'O', true, '2'],
    ['a purchase', 'CS', '1', 'C', true, '1'],
  ] as const)('the side of %s', (_, securityType, side, positionEffect, marksShortSales, expected) => {
    const sold = { ...order, securityType, side, positionEffect }
    expect(newOrder(ticket, sold, at, { marksShortSales }).fields).toMatchObject({ Side: expected })
    expect(cancelOrder('X', sold, at, { marksShortSales }).fields).toMatchObject({ Side: expected })
  })

  test('an option says what it is', () => {
    const option: FixOrder = {
      ...order,
      symbol: 'AAPL240621C00190000',
      securityType: 'OPT',
      maturityMonthYear: '20240621',
      putOrCall: '1',
      strike: '190.000000000000',
    }
    expect(newOrder(ticket, option, at, habits).fields).toMatchObject({
      Instrument: {
        Symbol: 'AAPL240621C00190000',
        SecurityType: 'OPT',
        MaturityMonthYear: '20240621',
        PutOrCall: 1,
        StrikePrice: '190',
      },
    })
  })

  test('a replacement names what it replaces', () => {
    const replacing = { ...ticket, clientOrderId: 'LST-1-S2-1', replacesClientOrderId: 'LST-1-S1-0' }
    expect(replaceOrder(replacing, order, at, habits)).toEqual({
      type: 'G',
      fields: { OrigClOrdID: 'LST-1-S1-0', ClOrdID: 'LST-1-S2-1', ...common },
    })
  })

  test('questions carry their own ids', () => {
    expect(askOrder('Q1', order, habits)).toMatchObject({
      type: 'H',
      fields: { OrdStatusReqID: 'Q1', ClOrdID: 'LST-1-S1-0', Side: '1' },
    })
    expect(askWorking('W1', 'ACC').fields).toEqual({
      MassStatusReqID: 'W1',
      MassStatusReqType: 7,
      Account: 'ACC',
    })
    expect(askPositions('P1', 'ACC', at).fields).toMatchObject({
      PosReqID: 'P1',
      ClearingBusinessDate: '20240312',
    })
  })

  test('a cancel’s id leads back to its order, and no other id changes', () => {
    const id = cancelIdOf('LST-1-S1-0', nonce())
    expect(id).toMatch(/^LST-1-S1-0-[0-9A-Z]+$/)
    expect(orderIdOf(id)).toBe('LST-1-S1-0')
    for (const other of ['LST-1-S1-0', 'HAND', 'HAND-1-2-3-4', '']) expect(orderIdOf(other)).toBe(other)
  })

  test('what would end a field cannot be sent', () => {
    expect(isSendable('U1234')).toBe(true)
    for (const bad of ['', 'U1\u000110=1', 'Ü1', 'a\nb']) expect(isSendable(bad)).toBe(false)
  })
})
