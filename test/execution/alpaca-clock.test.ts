/** The client for Alpaca beside a clock that is set back. */
import { afterAll, afterEach, expect, test, vi } from 'vitest'
import { createClient, loadSdk } from '../../src/execution/brokers/alpaca/client.ts'
import { startAlpacaStandIn } from '../support/alpaca-stand-in.ts'

const alpaca = await startAlpacaStandIn(Date.now)
afterAll(() => alpaca.close())
afterEach(() => vi.useRealTimers())

test('a clock that is set back an hour does not shut the way to Alpaca for that hour', async () => {
  const { keyId, secret } = alpaca.books.open('ACCOUNT', 'KEY', 'secret')
  const client = createClient(
    await loadSdk(),
    { ...alpaca, requestsPerMinute: 60 },
    { keyId, secret },
    () => undefined,
  )
  for (let asked = 0; asked < 60; asked++) expect(await client.account()).toMatchObject({ outcome: 'done' })
  vi.useFakeTimers({ toFake: ['Date'], now: Date.now() - 3_600_000, shouldAdvanceTime: true })
  expect(await client.account()).toMatchObject({ outcome: 'done' })
  expect(await client.place({} as never, performance.now() + 1_000)).toMatchObject({ outcome: 'refused' })
})
