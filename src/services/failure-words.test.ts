import { type AddressInfo, createServer } from 'node:net'
import { expect, test } from 'vitest'
import { failureWords } from './failure-words.ts'
import { createOutbound } from './outbound.ts'

test('a name that is away at each of its addresses has the words of all', async () => {
  const gone = createServer()
  await new Promise<void>((resolve) => gone.listen(0, '127.0.0.1', resolve))
  const { port } = gone.address() as AddressInfo
  await new Promise((resolve) => gone.close(resolve))
  const addresses = ['127.0.0.1', '127.0.0.2']
  const outbound = createOutbound({ permitsLocal: true, resolve: async () => addresses })
  const error: unknown = await outbound.post(`http://site.example:${port}/`, {}, '').catch((one) => one)
  await outbound.close()
  expect(failureWords(error)).toBe(
    addresses.map((address) => `connect ECONNREFUSED ${address}:${port}`).join(', '),
  )
})

test.each([
  [new Error('certificate has expired'), 'certificate has expired'],
  [new Error(''), undefined],
  [new AggregateError([]), undefined],
  ['no error', undefined],
])('%o says %j', (error, words) => expect(failureWords(error)).toBe(words))
