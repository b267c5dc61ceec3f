/** Answers of Stripe that do not come to their end: the payment stays unknown, and nobody waits for ever. */
import { createServer } from 'node:http'
import type { AddressInfo } from 'node:net'
import { afterAll, afterEach, expect, test, vi } from 'vitest'
import { connectStripe } from '../../src/execution/payments/stripe.ts'

const said = { isEndless: false, megabytes: 0, begun: false }
const server = createServer((request, response) => {
  request.resume()
  response.writeHead(200, { 'Content-Type': 'application/json' })
  const blanks = Buffer.alloc(said.isEndless ? 1024 * 1024 : 1, ' ')
  const dripping = setInterval(() => said.isEndless || response.write(blanks), 20)
  response.on('close', () => clearInterval(dripping))
  said.begun = true
  const more = (): void => {
    if (response.destroyed || !said.isEndless) return
    said.megabytes += 1
    response.write(blanks, more)
  }
  more()
})
await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve))
afterAll(() => {
  server.closeAllConnections()
  server.close()
})
afterEach(() => void vi.useRealTimers())
const baseUrl = `http://127.0.0.1:${(server.address() as AddressInfo).port}`
const stripe = await connectStripe({ secretKey: 'sk_test_x', baseUrl })
const ask = (): Promise<unknown> => stripe.paymentIntents.retrieve('pi_1').catch(({ type }) => type)

test('a body that drips is given up after the time for an answer', async () => {
  vi.useFakeTimers({ toFake: ['setTimeout', 'clearTimeout'] })
  const asked = ask()
  await vi.waitUntil(() => said.begun)
  vi.advanceTimersByTime(20_000)
  expect(await asked).toBe('StripeConnectionError')
})

test('a body without an end is given up before it fills the memory', async () => {
  said.isEndless = true
  expect(await ask()).toBe('StripeConnectionError')
  expect(said.megabytes).toBeLessThan(100)
})
