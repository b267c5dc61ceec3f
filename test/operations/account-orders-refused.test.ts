/** When an account takes no orders of its holder at all: its broker or Autotrade is disabled, or trading has ended. */
import { expect, test } from 'vitest'
import { resultsOf, told } from '../support/http.ts'
import { buildHolder } from './support/holder.ts'

const { town, own, held, closing, place } = await buildHolder()

test('nothing goes out, and nothing is started, while the broker is disabled; a cancel is taken', async () => {
  const order = await place()
  const enable = (isEnabled: boolean) =>
    town.platform.db.write.run`update broker set is_enabled = ${isEnabled}::boolean where name = 'Scripted'`
  await enable(false)
  const ofOrder = { ...own(), OrderId: order.OrderId }
  const setup = { ...own(), StrategyId: town.strategyId, StocksEnabled: true }
  expect(told(await held('NewAutotradeOrder', closing()))).toEqual([409, '3016 Account'])
  expect(told(await held('ReplaceAutotradeOrder', { ...ofOrder, Price: 111 }))).toEqual([409, '3016 Account'])
  expect(told(await held('StartAutotrade', setup))).toEqual([409, '3016 Account'])
  expect((await held('CancelAutotradeOrder', ofOrder)).status).toBe(200)
  await enable(true)
})

test('nothing goes out while Autotrade is disabled', async () => {
  expect((await held('SetAutotradeSettings', { ...own(), IsAutotradeEnabled: false })).status).toBe(200)
  expect(told(await held('NewAutotradeOrder', closing()))).toEqual([409, '3016 Account'])
  const [settings] = resultsOf(await held('GetAutotradeSettings', own()))
  expect(settings).toMatchObject({
    IsAutotradeDisabled: true,
    IsAutotradeDisabledReason: 'DisabledByHolder',
  })
  await held('SetAutotradeSettings', { ...own(), IsAutotradeEnabled: true })
  expect((await held('NewAutotradeOrder', closing())).status).toBe(200)
  const [after] = resultsOf(await held('GetAutotradeSettings', own()))
  expect(after).toMatchObject({ IsAutotradeDisabled: false })
  expect(after).not.toHaveProperty('IsAutotradeDisabledReason')
})

test('nothing is ordered where trading has ended: it would wait for a session that never comes', async () => {
  await town.door('/instruments', [{ symbol: 'AAPL', securityType: 'CS', lastTradingDay: '2024-03-11' }])
  expect(told(await held('NewAutotradeOrder', closing()))).toEqual([400, '1121 Symbol'])
})
