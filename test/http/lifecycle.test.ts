/** The server's own life: what is awaited before an answer, what a caller adds to it, how it ends. */
import { connect } from 'node:net'
import { expect, test, vi } from 'vitest'
import { DatabaseUnavailable } from '../../src/storage/database/failure.ts'
import type { Transaction } from '../../src/storage/database/sql.ts'
import { type Edge, faultsOf, startEdge } from './support/edge.ts'

const hello = '/gen/General/Hello'

async function withKey(edge: Edge): Promise<string> {
  return (await edge.key(await edge.person())).key
}

test('after a successful write, and only then, the answer waits for what it has caused', async () => {
  let settled = 0
  const edge = await startEdge({
    handlers: {
      Hello: async () => ({ results: [String(settled)] }),
      GetBrokers: async () => ({ results: [] }),
    },
    afterWrite: async () => {
      await new Promise((resolve) => setImmediate(resolve))
      settled++
    },
  })
  const key = await withKey(edge)
  await edge.call(hello, { key, body: '{}' })
  expect(settled).toBe(1)
  await edge.call('/gen/Autotrade/GetBrokers', { key })
  await edge.call(hello, { key, body: '{' })
  await edge.call(hello, { body: '{}' })
  expect(settled).toBe(1)
})

test('a database that goes away after a write is a passing fault, anything else is one of ours', async () => {
  let failure: Error = new DatabaseUnavailable('gone')
  const edge = await startEdge({
    handlers: { Hello: async () => ({ results: ['x'] }) },
    afterWrite: async () => {
      throw failure
    },
  })
  const key = await withKey(edge)
  const gone = await edge.call(hello, { key, body: '{}' })
  expect([gone.status, faultsOf(gone)[0]?.code, gone.headers['retry-after']]).toEqual([503, '1001', '1'])
  failure = new Error('secret detail')
  const failed = await edge.call(hello, { key, body: '{}' })
  expect([failed.status, failed.text.includes('secret detail')]).toEqual([500, false])
})

test('why the database did not do what calls asked is told to the log, once for all of them', async () => {
  const edge = await startEdge({
    handlers: {
      Hello: async () => {
        throw new DatabaseUnavailable('could not extend file "base/1/2": No space left on device')
      },
    },
  })
  const key = await withKey(edge)
  for (let time = 0; time < 3; time++) expect((await edge.call(hello, { key, body: '{}' })).status).toBe(503)
  const said = edge.lines.filter((line) => line.includes('No space left on device'))
  expect(said.map((line) => JSON.parse(line))).toMatchObject([
    { failures: 1, message: 'calls are answered 503, as the database did not do what they asked' },
  ])
})

test('a transaction that the database asks to run again too often is a passing fault, which nobody remembers', async () => {
  let isContended = true
  const edge = await startEdge({
    handlers: {
      Hello: async ({ sql }) => {
        const deadlock = `do $$ begin raise exception using errcode = '40P01'; end $$`
        if (isContended) await (sql as Transaction).script(deadlock)
        return { results: ['x'] }
      },
    },
  })
  const hasKey = { authorization: `Bearer ${await withKey(edge)}`, 'idempotency-key': 'once' }
  const first = await edge.call(hello, { headers: hasKey, body: '{}' })
  expect([first.status, faultsOf(first)[0]?.code, first.headers['retry-after']]).toEqual([503, '1001', '1'])
  isContended = false
  expect((await edge.call(hello, { headers: hasKey, body: '{}' })).status).toBe(200)
})

test('routes of a caller stand beside the hosts; their faults speak the envelope', async () => {
  const edge = await startEdge({
    extra: (app) => {
      app.post('/test/echo', async (request) => request.body)
      app.post('/test/fail', async () => {
        throw new Error('secret detail')
      })
    },
  })
  const headers = { accept: undefined }
  expect((await edge.call('/test/echo', { body: '{"a":1}', headers })).json).toEqual({ a: 1 })
  const broken = await edge.call('/test/echo', { body: '{', headers })
  expect([broken.status, faultsOf(broken)[0]?.code]).toEqual([400, '3015'])
  const failed = await edge.call('/test/fail', { body: '{}' })
  expect([failed.status, failed.text.includes('secret detail')]).toEqual([500, false])
  expect((await edge.call('/test/nothing')).status).toBe(404)
})

test('probes and routes of a caller carry a request id too, the caller’s own where it may be taken', async () => {
  const edge = await startEdge({ extra: (app) => app.get('/test/fine', async () => ({})) })
  for (const path of ['/livez', '/startupz', '/readyz', '/test/fine']) {
    const idUnder = async (id: string) =>
      (await edge.call(path, { headers: { 'x-request-id': id } })).headers['x-request-id']
    expect(await idUnder('mine.1')).toBe('mine.1')
    expect(await idUnder('not mine')).toMatch(/^[0-9a-f-]{36}$/)
  }
})

test('a closing server finishes what it has begun and takes nothing new', async () => {
  let release = (): void => undefined
  let entered = (): void => undefined
  const gate = new Promise<void>((resolve) => {
    release = resolve
  })
  const inside = new Promise<void>((resolve) => {
    entered = resolve
  })
  const edge = await startEdge({
    handlers: {
      Hello: async () => {
        entered()
        await gate
        return { results: ['done'] }
      },
    },
  })
  expect((await edge.call('/readyz')).status).toBe(200)
  const pending = edge.call(hello, { key: await withKey(edge), body: '{}' })
  await inside
  const closing = edge.server.close()
  const refused = await new Promise<string | undefined>((resolve) => {
    const socket = connect(edge.port, '127.0.0.1')
    socket.on('error', (error: NodeJS.ErrnoException) => resolve(error.code))
    socket.on('connect', () => resolve('connected'))
  })
  release()
  expect(refused).toBe('ECONNREFUSED')
  const answer = await pending
  expect([answer.status, answer.headers.connection]).toEqual([200, 'close'])
  const began = performance.now()
  await closing
  expect(performance.now() - began).toBeLessThan(1000)
})

test('what else must hold is told beside the database, and life does not depend on it', async () => {
  const edge = await startEdge({ conditions: async () => ({ disk: false, keys: true }) })
  const probe = await edge.call('/readyz')
  expect([probe.status, probe.headers['retry-after'], probe.json]).toEqual([
    503,
    '1',
    { ready: false, database: true, disk: false, keys: true, draining: false },
  ])
  for (const [path, says] of [
    ['/livez', { alive: true }],
    ['/startupz', { started: true }],
  ] as const)
    expect((await edge.call(path)).json).toEqual(says)
})

test('a probe that is asked with HEAD has the status of GET and no body', async () => {
  const edge = await startEdge({ conditions: async () => ({ disk: false }) })
  for (const [path, status] of [
    ['/livez', 200],
    ['/startupz', 200],
    ['/readyz', 503],
  ] as const) {
    const probe = await edge.call(path, { method: 'HEAD' })
    expect([probe.status, probe.text]).toEqual([status, ''])
  }
})

test('a standby in the place of the database answers, and makes nothing ready', async () => {
  const edge = await startEdge({})
  const one = vi.spyOn(edge.db.read, 'one').mockResolvedValueOnce({ takesWrites: false })
  const probe = await edge.call('/readyz')
  expect([probe.status, probe.json]).toEqual([503, { ready: false, database: false, draining: false }])
  expect((await edge.call('/readyz')).status).toBe(200)
  one.mockRestore()
})

test('what is told beside has no bearing on whether it is ready', async () => {
  const edge = await startEdge({ signs: async () => ({ worker: false }) })
  const probe = await edge.call('/readyz')
  expect([probe.status, probe.json]).toEqual([
    200,
    { ready: true, database: true, draining: false, worker: false },
  ])
})

test('a closing server says so while it still accepts', async () => {
  const edge = await startEdge({})
  const closing = edge.server.close(200)
  const probe = await edge.call('/readyz')
  expect([probe.status, probe.json]).toEqual([503, { ready: false, database: true, draining: true }])
  await closing
})
