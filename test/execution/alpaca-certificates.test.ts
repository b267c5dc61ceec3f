/** A certificate that is not believed: nothing went out, nobody is told that something may have, and the log says why. */
import type { AddressInfo } from 'node:net'
import { SMTPServer } from 'smtp-server'
import { afterAll, expect, test } from 'vitest'
import { createLink } from '../../src/execution/brokers/alpaca/alpaca.ts'
import { snapshotAll } from '../../src/execution/brokers/alpaca/asking.ts'
import { createClient, loadSdk, type Outcome } from '../../src/execution/brokers/alpaca/client.ts'
import { anyOrder } from '../support/alpaca-stand-in.ts'

// Whatever it speaks, TLS comes first; its certificate it has made itself.
const stranger = new SMTPServer({ secure: true })
stranger.on('error', () => undefined)
await new Promise<void>((resolve) => stranger.listen(0, '127.0.0.1', resolve))
afterAll(() => stranger.close())

test('an order that met a stranger was not sent, and the link is down', async () => {
  const url = `https://localhost:${(stranger.server.address() as AddressInfo).port}`
  const link = createLink()
  const endpoint = { url, streamUrl: url, requestsPerMinute: 1_000 }
  const client = createClient(await loadSdk(), endpoint, { keyId: 'k', secret: 's' }, link.note)
  const unsent: Outcome = { outcome: 'unsent' }
  expect(await client.place(anyOrder, performance.now() + 60_000)).toEqual(unsent)
  expect(link.isUp()).toBe(false)
  expect(link.why()).toMatch(/certificate/)
  const desk = {
    sessions: { of: async () => [Promise.resolve({ outcome: 'unsent' })] },
    why: link.why,
    pull: () => undefined,
  }
  await expect(snapshotAll({} as never, desk as never, {} as never, [1])).rejects.toThrow(/certificate/)
})
