/** Webhook calls reach their taker byte by byte and are answered in two words. */
import Fastify from 'fastify'
import { afterAll, describe, expect, test } from 'vitest'
import { addWebhook } from '../../src/http/webhooks.ts'

const taken: { body: string; signature: string }[] = []
const state = { isInMaintenance: false }
const app = Fastify()
addWebhook(app, {
  path: '/webhooks/stripe',
  header: 'stripe-signature',
  isInMaintenance: () => state.isInMaintenance,
  take: async (call) => {
    taken.push(call)
    return call.signature === 'right'
  },
})
afterAll(() => app.close())

const tell = (payload: string, headers: Record<string, string>) =>
  app.inject({ method: 'POST', url: '/webhooks/stripe', payload, headers })

describe('a webhook call', () => {
  test('is taken as it was sent, white space and all', async () => {
    const body = '{ "id" :  "evt_1" }\n'
    const headers = { 'content-type': 'application/json; charset=utf-8', 'stripe-signature': 'right' }
    const answer = await tell(body, headers)
    expect([answer.statusCode, answer.json()]).toEqual([200, { received: true }])
    expect(taken.at(-1)).toEqual({ body, signature: 'right' })
  })

  test.each([
    ['a wrong signature', '{}', { 'content-type': 'application/json', 'stripe-signature': 'wrong' }],
    ['no signature', '{}', { 'content-type': 'application/json' }],
    ['no body', '', { 'stripe-signature': 'wrong' }],
    ['what is no JSON', 'a=b', { 'content-type': 'application/x-www-form-urlencoded' }],
  ] as [string, string, Record<string, string>][])('with %s is refused', async (_name, body, headers) => {
    const answer = await tell(body, headers)
    expect([answer.statusCode, answer.json()]).toEqual([400, { received: false }])
  })

  test('is for later during maintenance, like everything else', async () => {
    const before = taken.length
    state.isInMaintenance = true
    const answer = await tell('{}', { 'content-type': 'application/json', 'stripe-signature': 'right' })
    state.isInMaintenance = false
    expect([answer.statusCode, answer.headers['retry-after'], taken.length]).toEqual([503, '60', before])
    expect(answer.json().ResponseStatus.ErrorCode).toBe('503')
  })

  test('that is too long is not read to its end', async () => {
    const before = taken.length
    const answer = await tell('x'.repeat(300_000), { 'content-type': 'application/json' })
    expect([answer.statusCode, taken.length]).toEqual([413, before])
  })
})
