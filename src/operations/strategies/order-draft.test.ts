import { expect, test } from 'vitest'
import { dec } from '../../domain/decimal.ts'
import { refusedPrice } from './order-draft.ts'

test('whoever sends a price between two ticks is told the tick', () => {
  const prices = { limitPx: dec('5000.1'), stopPx: undefined, profitTarget: undefined, stopLoss: undefined }
  const message = 'Must be a multiple of the tick size, 0.25'
  expect(refusedPrice(prices, '0.2500')).toMatchObject({ field: 'Order.Limit', message })
})
