/** What a request may look like: hosts and paths, methods, media types, bodies, ids, answers' headers. */
import { brotliDecompressSync, gunzipSync } from 'node:zlib'
import { beforeAll, describe, expect, test } from 'vitest'
import type { HandlerTable } from '../../src/operations/handler.ts'
import { type Edge, faultsOf, startEdge } from './support/edge.ts'

const modified = 'Tue, 12 Mar 2024 14:00:00 GMT'
const handlers: HandlerTable = {
  Hello: async (ctx, { Name }) => ({ results: [`${ctx.host} ${ctx.dialect} ${Name ?? ''}`] }),
  GetBrokers: async (ctx) => {
    const headers = { 'Last-Modified': modified }
    return ctx.ifModifiedSince !== undefined && ctx.ifModifiedSince >= Date.parse(modified)
      ? { notModified: true, headers }
      : { results: [], headers }
  },
  AddKYCInfo: async () => ({ results: [] }),
}
let edge: Edge
let compat: Edge
let key: string

beforeAll(async () => {
  edge = await startEdge({
    handlers,
    pages: { '/': () => '<!doctype html><style>b{}</style><script>1</script>hi' },
  })
  compat = await startEdge({ handlers, dialect: 'compat', db: edge.db })
  key = (await edge.key(await edge.person('platform_admin'))).key
})

const hello = '/gen/General/Hello'
const greet = (path: string, headers: Record<string, string> = {}) =>
  edge.call(path, { key, body: '{"Name":"A"}', headers })

describe('hosts and paths', () => {
  test.each([
    ['a prefix', '/geo/General/Hello', 'localhost', 'Geo'],
    ['a name', '/General/Hello', 'wl.example', 'WL'],
    ['a name with a port, in capitals', '/General/Hello', 'GEN.example:8080', 'Gen'],
    ['a rooted name', '/General/Hello', 'gen.example.', 'Gen'],
    ['an unknown name and a prefix', '/wl/General/Hello', 'other.example', 'WL'],
    ['an absolute target', 'http://wl.example/General/Hello', 'gen.example', 'WL'],
    ['an absolute target in capitals', 'HTTP://WL.example:80/General/Hello', 'x', 'WL'],
    ['an absolute target with a prefix', 'http://localhost:8080/geo/General/Hello', 'gen.example', 'Geo'],
  ])('%s finds the host', async (_, path, host, expected) => {
    const answer = await greet(path, { host })
    expect(answer.status).toBe(200)
    expect(answer.json).toMatchObject({ Results: [`${expected} native A`] })
  })

  test.each([
    ['a prefix under a name', 'POST', '/gen/General/Hello', 'gen.example'],
    ['neither name nor prefix', 'POST', '/General/Hello', 'localhost'],
    ['another case', 'POST', '/gen/general/Hello', 'x'],
    ['a trailing slash', 'POST', '/gen/General/Hello/', 'x'],
    ['a doubled slash', 'POST', '//gen/General/Hello', 'x'],
    ['an escaped letter', 'POST', '/gen/General/H%65llo', 'x'],
    ['dots', 'POST', '/gen/Strategies/../General/Hello', 'x'],
    ['escaped dots', 'POST', '/gen/%2e%2e/General/Hello', 'x'],
    ['an escaped NUL', 'POST', '/gen/General/Hello%00', 'x'],
    ['no UTF-8', 'POST', '/gen/%ff', 'x'],
    ['half an escape', 'POST', '/gen/%', 'x'],
    ['nine kilobytes', 'POST', `/gen/${'x'.repeat(9000)}`, 'x'],
    ['another host’s operation', 'GET', '/gen/General/GetGeoSites', 'x'],
    ['version 2 on the general host', 'POST', '/gen/v2/Strategies/SetDesiredPositions', 'x'],
    ['names of the prototype', 'GET', '/gen/__proto__/constructor', 'x'],
    ['the wrong method', 'GET', '/gen/General/Hello', 'x'],
    ['PATCH', 'PATCH', '/gen/General/Hello', 'x'],
    ['OPTIONS', 'OPTIONS', '/gen/General/Hello', 'x'],
    ['OPTIONS of the whole server', 'OPTIONS', '*', 'x'],
    ['TRACE', 'TRACE', '/gen/General/Hello', 'x'],
    ['PROPFIND', 'PROPFIND', '/gen/General/Hello', 'x'],
    ['the root of a host', 'GET', '/gen', 'x'],
    ['an absolute target with a prefix under a name', 'POST', 'http://gen.example/gen/General/Hello', 'x'],
    ['an absolute target with a doubled slash', 'POST', 'http://x//gen/General/Hello', 'x'],
    ['an absolute target without a path', 'POST', 'http://gen.example', 'x'],
    ['an absolute target of another scheme', 'POST', 'ftp://x/gen/General/Hello', 'x'],
  ])('%s is 404', async (_, method, path, host) => {
    const answer = await edge.call(path, { method, key, headers: { host } })
    expect(answer.status).toBe(404)
    expect(faultsOf(answer)).toEqual([{ code: '3014', field: '' }])
    expect(answer.headers['x-request-id']).toBeDefined()
  })

  test('an odd body does not hide an unknown route', async () => {
    const headers = { 'content-type': 'x/y; z' }
    expect((await edge.call('/gen/Nothing', { body: '{', headers })).status).toBe(404)
  })

  test('HEAD is 404 without a body, a method override is ignored', async () => {
    const head = await edge.call('/gen/Autotrade/GetBrokers', { method: 'HEAD', key })
    expect([head.status, head.text]).toEqual([404, ''])
    const headers = { 'x-http-method-override': 'GET' }
    expect((await edge.call('/gen/Autotrade/GetBrokers', { method: 'POST', key, headers })).status).toBe(404)
  })

  test.each([
    [undefined, 'x.example:8080', 'http://x.example:8080'],
    [undefined, '[::1]:8080', 'http://[::1]:8080'],
    [undefined, 'x.example/elsewhere', 'http://localhost'],
    [undefined, 'user@x.example', 'http://localhost'],
    ['https://trading.example', 'x.example:8080', 'https://trading.example'],
  ])(
    'addresses begin with what the operator says, else with a Host that is one: %s, %s',
    async (publicUrl, host, expected) => {
      const own = await startEdge({
        db: edge.db,
        handlers: { Hello: async ({ origin }) => ({ results: [origin] }) },
        ...(publicUrl ? { publicUrl } : {}),
      })
      const { json } = await own.call(hello, { key, body: '{}', headers: { host } })
      expect(json).toMatchObject({ Results: [expected] })
    },
  )

  test('an operation’s URL ends at 8 KiB', async () => {
    const at = (length: number) => `/gen/Autotrade/GetBrokers?x=${'y'.repeat(length - 28)}`
    expect(faultsOf(await edge.call(at(8192), { key }))).toEqual([{ code: '1130', field: 'x' }])
    expect(faultsOf(await edge.call(at(8193), { key }))).toEqual([{ code: '3015', field: '' }])
  })

  test('probes and pages live beside the hosts', async () => {
    expect((await edge.call('/livez')).json).toEqual({ alive: true })
    expect((await edge.call('/readyz')).json).toEqual({ ready: true, database: true, draining: false })
    const page = await edge.call('/')
    expect(page.status).toBe(200)
    expect(page.headers['content-security-policy']).toMatch(
      /^default-src 'none'; style-src 'self' 'sha256-[^']+'; script-src 'self' 'sha256-[^']+';/,
    )
    expect(page.headers['x-content-type-options']).toBe('nosniff')
    expect((await edge.call('/', { headers: { host: 'gen.example' } })).status).toBe(200)
  })
})

describe('media types', () => {
  test.each([
    [undefined, 406, 200],
    ['*/*', 406, 200],
    ['text/html', 406, 406],
    ['application/json;q=0', 406, 406],
    ['application/json, text/plain', 200, 200],
  ])('Accept %s: native %i, compat %i', async (accept, native, other) => {
    const asking = { key, body: '{"Name":"A"}', headers: { accept } }
    expect((await edge.call(hello, asking)).status).toBe(native)
    expect((await compat.call(hello, asking)).status).toBe(other)
  })

  test.each([
    ['application/json; charset=utf-8', 200],
    [undefined, 400],
    ['text/plain', 400],
    ['application/json; charset=utf-16', 400],
  ])('Content-Type %s: %i', async (type, status) => {
    expect((await edge.call(hello, { key, body: '{}', headers: { 'content-type': type } })).status).toBe(
      status,
    )
  })

  test('two content types, an encoded body', async () => {
    const twice = await edge.raw(
      `POST ${hello} HTTP/1.1\r\nHost: x\r\nConnection: close\r\nAccept: application/json\r\nAuthorization: Bearer ${key}\r\n` +
        'Content-Type: application/json\r\nContent-Type: application/json\r\nContent-Length: 2\r\n\r\n{}',
    )
    expect(twice).toMatch(/^HTTP\/1.1 400 .*"3009"/s)
    const gzip = await edge.call(hello, { key, body: '{}', headers: { 'content-encoding': 'gzip' } })
    expect(faultsOf(gzip)).toEqual([{ code: '3009', field: 'Content-Encoding' }])
    const none = await edge.call(hello, { key, body: '{}', headers: { 'content-encoding': 'Identity' } })
    expect(none.status).toBe(200)
  })

  test('GET and DELETE need no content type and take no body', async () => {
    expect((await edge.call('/gen/Autotrade/GetBrokers', { key })).status).toBe(200)
    for (const method of ['GET', 'DELETE']) {
      const path = method === 'GET' ? '/gen/Autotrade/GetBrokers' : '/gen/Autotrade/CancelAutotradeOrder'
      const answer = await edge.call(path, { key, method, body: '{}' })
      expect(faultsOf(answer)).toEqual([{ code: '3015', field: 'Body' }])
    }
  })
})

describe('bodies', () => {
  test.each([
    ['empty', ''],
    ['an open object', '{'],
    ['a trailing comma', '{"Name":"A",}'],
    ['two documents', '{}{}'],
    ['an array', '[]'],
    ['a scalar', '1'],
    ['null', 'null'],
    ['a repeated member', '{"Name":"A","Name":"A"}'],
    ['a lone surrogate', '{"Name":"\\ud800"}'],
    ['NUL', '{"Name":"\\u0000"}'],
    ['__proto__', '{"__proto__":{}}'],
    ['too deep', '['.repeat(20_001)],
    ['a byte order mark', '\ufeff{}'],
    ['an unknown member', '{"name":"A"}'],
  ])('%s is 400', async (_, body) => {
    const answer = await edge.call(hello, { key, body, method: 'POST' })
    expect(answer.status).toBe(400)
    expect(faultsOf(answer).length).toBeGreaterThan(0)
  })

  const sized = (bytes: number) => `{"Name":"${'x'.repeat(10)}"}${' '.repeat(bytes - 21)}`
  test.each([
    [256 * 1024, 200],
    [256 * 1024 + 1, 400],
    [900 * 1024, 400],
    [20 * 1024 * 1024, 400],
  ])('%i bytes: %i', async (bytes, status) => {
    const answer = await edge.call(hello, { key, body: sized(bytes) }).catch((error: Error) => error)
    // What is cut off may reach the caller as a broken connection.
    if (answer instanceof Error) expect(bytes).toBeGreaterThan(1024 * 1024)
    else expect(answer.status).toBe(status)
  })

  test('AddKYCInfo takes 8 MiB', async () => {
    const send = (bytes: number) => edge.call('/wl/General/AddKYCInfo', { key, body: sized(bytes) })
    expect(faultsOf(await send(8 * 1024 * 1024)).map(({ code }) => code)).not.toContain('3010')
    expect(faultsOf(await send(8 * 1024 * 1024 + 1))).toEqual([{ code: '3010', field: 'Body' }])
  })

  test('what a read sends as an idempotency key is not looked at', async () => {
    const headers = { 'idempotency-key': 'a b' }
    expect((await edge.call('/gen/Autotrade/GetBrokers', { key, headers })).status).toBe(200)
    expect(faultsOf(await edge.call(hello, { key, body: '{}', headers }))).toEqual([
      { code: '3002', field: 'Idempotency-Key' },
    ])
  })

  test('a query that cannot be decoded is 400', async () => {
    expect(faultsOf(await edge.call('/gen/Autotrade/GetBrokers?a=%ff', { key }))).toEqual([
      { code: '3015', field: '' },
    ])
  })

  test('compat alone ignores unknown names in the query of a body', async () => {
    const asking = { key, body: '{}' }
    expect((await compat.call(`${hello}?x=1`, asking)).status).toBe(200)
    expect(faultsOf(await edge.call(`${hello}?x=1`, asking))).toEqual([{ code: '1130', field: 'x' }])
  })
})

describe('answers', () => {
  test('carry the request id, their type, and may not be stored or sniffed', async () => {
    const answer = await greet(hello, { 'x-request-id': 'trace-1' })
    expect(answer.headers).toMatchObject({
      'x-request-id': 'trace-1',
      'content-type': 'application/json; charset=utf-8',
      'cache-control': 'no-store',
      'x-content-type-options': 'nosniff',
      'content-length': String(answer.bytes.length),
    })
    expect(answer.headers['x-limit-limit']).toBeUndefined()
  })

  test('an ill-formed request id is replaced', async () => {
    const [one, two] = [await greet(hello, { 'x-request-id': 'a b' }), await greet(hello)]
    expect(one.headers['x-request-id']).toMatch(/^[0-9a-f-]{36}$/)
    expect(two.headers['x-request-id']).not.toBe(one.headers['x-request-id'])
  })

  test('large answers travel compressed when asked', async () => {
    const body = JSON.stringify({ Name: 'x'.repeat(200) + 'é'.repeat(50) })
    const big = `/gen/Autotrade/GetBrokers?${Array.from({ length: 20 }, (_, at) => `unknown${at}=1`).join('&')}`
    const plain = await edge.call(big, { key })
    expect(plain.headers['content-encoding']).toBeUndefined()
    expect(plain.headers.vary).toBe('Accept-Encoding')
    const br = await edge.call(big, { key, headers: { 'accept-encoding': 'gzip, br' } })
    expect(br.headers['content-encoding']).toBe('br')
    expect(brotliDecompressSync(br.bytes).toString()).toBe(plain.text)
    const gzip = await edge.call(big, { key, headers: { 'accept-encoding': 'gzip' } })
    expect(gunzipSync(gzip.bytes).toString()).toBe(plain.text)
    const small = await edge.call(hello, { key, body, headers: { 'accept-encoding': 'br' } })
    expect(small.headers['content-encoding']).toBeUndefined()
  })

  test.each([
    ['an older copy', 'Mon, 11 Mar 2024 14:00:00 GMT', 200],
    ['the same', modified, 304],
    ['a newer one', 'Wed, 13 Mar 2024 14:00:00 GMT', 304],
    ['garbage', 'yesterday', 200],
  ])('If-Modified-Since with %s', async (_, since, status) => {
    const answer = await edge.call('/gen/Autotrade/GetBrokers', {
      key,
      headers: { 'if-modified-since': since },
    })
    expect(answer.status).toBe(status)
    expect(answer.headers['last-modified']).toBe(modified)
    if (status === 304) expect([answer.text, answer.headers['content-type']]).toEqual(['', undefined])
  })

  test('the log names request, key id and outcome, never the key or the body', async () => {
    edge.lines.length = 0
    await edge.call(hello, { key, body: '{"Name":"hidden-name"}', headers: { 'x-request-id': 'logged' } })
    await edge.call(`${hello}?token=${key}`, { method: 'GET' })
    await expect.poll(() => edge.lines.length).toBe(2)
    const text = edge.lines.join('\n')
    expect(JSON.parse(edge.lines[0] ?? '')).toMatchObject({
      requestId: 'logged',
      host: 'Gen',
      operation: 'Hello',
      keyId: key.split('_')[2],
      status: 200,
      message: 'request',
    })
    expect(text).not.toContain(key)
    expect(text).not.toContain('hidden-name')
  })
})
