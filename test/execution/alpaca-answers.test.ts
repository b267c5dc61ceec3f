/** Answers of Alpaca that do not come to their end: nothing is known, and the process lives on. */
import { createServer } from 'node:http'
import type { AddressInfo } from 'node:net'
import { setTimeout as delay } from 'node:timers/promises'
import { afterAll, expect, test } from 'vitest'
import { createClient, loadSdk, type Outcome } from '../../src/execution/brokers/alpaca/client.ts'
import { anyOrder } from '../support/alpaca-stand-in.ts'

const said = { status: 200, isCut: false, isEndless: false, megabytes: 0 }
const server = createServer((request, response) => {
  request.resume()
  if (said.isEndless) {
    response.writeHead(200, { 'Content-Type': 'application/json' })
    const blanks = Buffer.alloc(1024 * 1024, ' ')
    const more = (): void => {
      if (response.destroyed) return
      said.megabytes += 1
      response.write(blanks, more)
    }
    return more()
  }
  response.writeHead(said.status, { 'Content-Type': 'application/json', 'Content-Length': '60' })
  response.write('{"code":40010001,')
  if (said.isCut) setTimeout(() => response.destroy(), 50)
})
await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve))
afterAll(() => {
  server.closeAllConnections()
  server.close()
})
const url = `http://127.0.0.1:${(server.address() as AddressInfo).port}`
const endpoint = { url, streamUrl: url, requestsPerMinute: 1_000 }
const client = createClient(await loadSdk(), endpoint, { keyId: 'k', secret: 's' }, () => undefined)
const place = (): Promise<Outcome> => client.place(anyOrder, performance.now() + 60_000)

test.each([200, 422, 500])('%d with a body that is cut short says nothing', async (status) => {
  Object.assign(said, { status, isCut: true })
  expect(await place()).toEqual({ outcome: 'unknown' })
})

test.each([422, 500])('%d with a body that does not end leaves nothing behind', async (status) => {
  const left: unknown[] = []
  const note = (error: unknown): unknown => left.push(error)
  process.on('unhandledRejection', note)
  Object.assign(said, { status, isCut: false })
  expect(await place()).toEqual({ outcome: 'unknown' })
  await delay(50)
  process.off('unhandledRejection', note)
  expect(left).toEqual([])
})

test('an answer without an end is given up before it fills the memory', async () => {
  said.isEndless = true
  expect(await place()).toEqual({ outcome: 'unknown' })
  expect(said.megabytes).toBeLessThan(100)
})
