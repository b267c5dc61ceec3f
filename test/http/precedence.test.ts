/** One request with every fault at once, repaired one fault at a time: each step shows the next check. */
import { beforeAll, describe, expect, test } from 'vitest'
import { refuse } from '../../src/operations/context.ts'
import { setSwitch } from '../../src/storage/work/switches.ts'
import { type Asking, type Edge, faultsOf, startEdge } from './support/edge.ts'

const hello = '/gen/General/Hello'
let edge: Edge
let key: string

beforeAll(async () => {
  edge = await startEdge({
    handlers: {
      Hello: async (_, { Name }) => ({ results: [`Hello, ${Name ?? ''}!`] }),
      GetGeoSites: async () => refuse('StateConflict', 'Site'),
      GetBrokers: async () => {
        throw new Error('secret detail')
      },
    },
  })
  key = (await edge.key(await edge.person())).key
})

interface Step {
  path?: string
  asking: Asking
  status: number
  code: string
  field?: string
}

const worst: Asking = {
  method: 'POST',
  headers: { accept: 'text/html', authorization: 'Basic x', 'content-type': 'text/plain' },
  body: '{"Name":1,"Other":2',
}
const withKey = (): Asking => ({ ...worst, headers: { ...worst.headers, authorization: `Bearer ${key}` } })
const accepted = (): Asking => ({
  ...withKey(),
  headers: { ...withKey().headers, accept: 'application/json' },
})
const typed = (): Asking => ({
  ...accepted(),
  headers: { ...accepted().headers, 'content-type': 'application/json' },
})

describe('order of checks', () => {
  test.each<[string, () => Step]>([
    ['route', () => ({ path: '/gen/General/Nothing', asking: worst, status: 404, code: '3014' })],
    ['key', () => ({ asking: worst, status: 401, code: '2014', field: 'APIKey' })],
    ['Accept', () => ({ asking: withKey(), status: 406, code: '3012', field: 'Accept' })],
    ['Content-Type', () => ({ asking: accepted(), status: 400, code: '3009', field: 'Content-Type' })],
    ['JSON', () => ({ asking: typed(), status: 400, code: '3011', field: 'Body' })],
    [
      'shape',
      () => ({
        asking: { ...typed(), body: '{"Name":1}' },
        status: 400,
        code: '1130',
        field: 'Name',
      }),
    ],
  ])('%s', async (_, make) => {
    const { path = hello, asking, status, code, field = '' } = make()
    const answer = await edge.call(path, asking)
    expect(answer.status).toBe(status)
    expect(faultsOf(answer)).toEqual([{ code, field }])
  })

  test('nothing wrong', async () => {
    const answer = await edge.call(hello, { key, body: '{"Name":"Ada"}' })
    expect(answer.status).toBe(200)
    expect(answer.text).toBe('{"Results":["Hello, Ada!"],"ResponseStatus":{"ErrorCode":"200"}}')
  })

  test('all faults of shape are listed, with the idempotency key and unknown query names', async () => {
    const asking: Asking = { key, body: '{"Name":1,"Other":2}', headers: { 'idempotency-key': 'a b' } }
    expect(faultsOf(await edge.call(`${hello}?X=1`, asking))).toEqual([
      { code: '3002', field: 'Idempotency-Key' },
      { code: '1130', field: 'X' },
      { code: '1130', field: 'Name' },
      { code: '1130', field: 'Other' },
    ])
  })

  test('of unknown query names twenty are listed', async () => {
    const names = Array.from({ length: 21 }, (_, at) => `X${at}`)
    const answer = await edge.call(`${hello}?${names.join('&')}`, { key, body: '{}' })
    expect(faultsOf(answer).map(({ field }) => field)).toEqual(names.slice(0, 20))
  })

  test('a role that may not comes after the shape, an unbuilt operation after the shape', async () => {
    const path = '/geo/General/GetGeoSiteUsers'
    expect((await edge.call(path, { key })).status).toBe(400)
    const answer = await edge.call(`${path}?GeoSite=x`, { key })
    expect(answer.status).toBe(503)
    expect(answer.headers['retry-after']).toBeDefined()
    expect(faultsOf(answer)).toEqual([{ code: '3007', field: '' }])
  })

  test('a conflict is 409, an unavailable operation 503, both in the envelope', async () => {
    expect(faultsOf(await edge.call('/geo/General/GetGeoSites', { key }))).toEqual([
      { code: '3016', field: 'Site' },
    ])
    const answer = await edge.call('/gen/General/UpdateProfile', { key, method: 'PUT', body: '{}' })
    expect(answer.status).toBe(503)
    expect(faultsOf(answer)).toEqual([{ code: '3008', field: '' }])
  })

  test('an unexpected error is a constant 500; the log has it under the request id', async () => {
    const answer = await edge.call('/gen/Autotrade/GetBrokers', {
      key,
      headers: { 'x-request-id': 'boom-1' },
    })
    expect(answer.status).toBe(500)
    expect(answer.json).toEqual({
      ResponseStatus: {
        ErrorCode: '500',
        Message: 'InternalServerError',
        Errors: [{ ErrorCode: '1000', FieldName: '', Message: 'Unknown processing error' }],
      },
    })
    expect(edge.lines.some((line) => line.includes('boom-1') && line.includes('a request failed'))).toBe(true)
  })

  test('maintenance closes everything but the check of a key by Hello', async () => {
    const until = async (isOn: boolean): Promise<void> => {
      await setSwitch(edge.db.write, 'maintenance', isOn, edge.clock.now())
      await expect.poll(() => edge.operations.isInMaintenance()).toBe(isOn)
    }
    await until(true)
    try {
      const closed = await edge.call('/gen/General/GetAccessKey', worst)
      expect([closed.status, closed.headers['retry-after']]).toEqual([404, undefined])
      const strategies = await edge.call('/gen/General/GetAccessKey', { key: 'wrong' })
      expect([strategies.status, strategies.headers['retry-after']]).toEqual([503, '60'])
      expect((await edge.call(hello, { key: 'wrong', body: '{}' })).status).toBe(401)
      expect((await edge.call(hello, { key, body: '{}' })).status).toBe(503)
    } finally {
      await until(false)
    }
    expect((await edge.call(hello, { key, body: '{}' })).status).toBe(200)
  })
})
