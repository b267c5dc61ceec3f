/** Bytes that are no proper HTTP: each gets 400 in the envelope and the end of its connection; others live on. */
import { type AddressInfo, connect } from 'node:net'
import { setTimeout as pause } from 'node:timers/promises'
import { beforeAll, describe, expect, test } from 'vitest'
import { createListener } from '../../src/http/listener.ts'
import { type Edge, startEdge } from './support/edge.ts'

let edge: Edge
let key: string

beforeAll(async () => {
  edge = await startEdge({
    handlers: {
      Hello: async (_, { Name }) => {
        if (Name === 'later') await pause(50)
        return { results: [Name ?? ''] }
      },
    },
  })
  key = (await edge.key(await edge.person())).key
})

const line = 'POST /gen/General/Hello HTTP/1.1\r\n'
const usual = () =>
  `Host: x\r\nAccept: application/json\r\nAuthorization: Bearer ${key}\r\nContent-Type: application/json\r\n`

/** Splits what came back into status and body. */
function answerOf(text: string): { status: number; json: unknown; head: string } {
  const [head = '', body = ''] = text.split('\r\n\r\n', 2)
  return { status: Number(head.split(' ')[1]), json: JSON.parse(body), head }
}

describe('framing', () => {
  test.each<[string, () => string]>([
    ['no HTTP at all', () => 'hello\r\n\r\n'],
    ['a lower-case method without a target', () => `get  HTTP/1.1\r\n${usual()}\r\n`],
    ['a target that is for OPTIONS alone', () => `GET * HTTP/1.1\r\n${usual()}\r\n`],
    ['no Host', () => 'GET /gen/x HTTP/1.1\r\n\r\n'],
    ['two Hosts', () => 'GET /gen/x HTTP/1.1\r\nHost: a\r\nHost: b\r\n\r\n'],
    ['length and chunks', () => `${line}${usual()}Content-Length: 2\r\nTransfer-Encoding: chunked\r\n\r\n{}`],
    ['two lengths', () => `${line}${usual()}Content-Length: 2\r\nContent-Length: 3\r\n\r\n{}`],
    ['a negative length', () => `${line}${usual()}Content-Length: -2\r\n\r\n{}`],
    ['an unknown transfer coding', () => `${line}${usual()}Transfer-Encoding: chunked, gzip\r\n\r\n`],
    [
      'a transfer coding that nobody undoes',
      () => `${line}${usual()}Transfer-Encoding: gzip, chunked\r\n\r\n2\r\n{}\r\n0\r\n\r\n`,
    ],
    [
      'chunks in HTTP/1.0',
      () => `${line.replace('1.1', '1.0')}${usual()}Transfer-Encoding: chunked\r\n\r\n2\r\n{}\r\n0\r\n\r\n`,
    ],
    ['a broken chunk', () => `${line}${usual()}Transfer-Encoding: chunked\r\n\r\nzz\r\n{}\r\n0\r\n\r\n`],
    ['a bare line feed', () => `GET / HTTP/1.1\nHost: x\n\n`],
    ['a blank in a header name', () => `GET / HTTP/1.1\r\nHost : x\r\n\r\n`],
    ['a control character in a header', () => `GET / HTTP/1.1\r\nHost: x\r\nA: b\u0001\r\n\r\n`],
    ['101 headers', () => `${line}${usual()}${'A: b\r\n'.repeat(97)}\r\n`],
    ['100 KB of header', () => `${line}${usual()}A: ${'b'.repeat(100_000)}\r\n\r\n`],
    ['an unknown expectation', () => `${line}${usual()}Expect: tea\r\nContent-Length: 2\r\n\r\n{}`],
    ['an unknown version', () => `GET / HTTP/9.9\r\nHost: x\r\n\r\n`],
  ])('%s', async (_, make) => {
    const { status, json, head } = answerOf(await edge.raw(make()))
    expect(status).toBe(400)
    expect(json).toMatchObject({ ResponseStatus: { ErrorCode: '400', Errors: [{ ErrorCode: '3015' }] } })
    expect(head.toLowerCase()).toContain('connection: close')
    expect(head.toLowerCase()).toContain('x-request-id: ')
    expect((await edge.call('/livez')).status).toBe(200)
  })

  test.each([
    'CONNECT example.org:443',
    'get /gen/General/GetAccessKey',
    'Get /gen/General/GetAccessKey',
    'GETS /gen/General/GetAccessKey',
    'BREW /gen/General/GetAccessKey',
  ])('a method that no operation has is an unknown route: %s', async (start) => {
    const { status, json, head } = answerOf(await edge.raw(`${start} HTTP/1.1\r\n${usual()}\r\n`))
    expect(status).toBe(404)
    expect(json).toMatchObject({ ResponseStatus: { ErrorCode: '404', Errors: [{ ErrorCode: '3014' }] } })
    expect(head.toLowerCase()).toContain('x-request-id: ')
  })

  test('an unknown method behind a whole request on the same connection', async () => {
    const whole = `${line}${usual()}Content-Length: 12\r\n\r\n{"Name":"A"}`
    const text = await edge.raw(`${whole}brew /gen/x HTTP/1.1\r\n${usual()}\r\n`)
    expect(text.match(/HTTP\/1.1 \d+|"ErrorCode":"3\d+"/g)).toEqual([
      ...['HTTP/1.1 200', 'HTTP/1.1 404', '"ErrorCode":"3014"'],
    ])
  })

  test('a folded header does not smuggle a second one', async () => {
    const text = await edge.raw(
      `${line}Host: x\r\nA: b\r\n Authorization: Bearer ${key}\r\nContent-Length: 2\r\nConnection: close\r\n\r\n{}`,
    )
    expect([400, 401]).toContain(answerOf(text).status)
  })

  test('HTTP/1.0 needs no Host', async () => {
    const old = line.replace('1.1', '1.0') + usual().replace('Host: x\r\n', '')
    expect(answerOf(await edge.raw(`${old}Content-Length: 12\r\n\r\n{"Name":"A"}`)).status).toBe(200)
  })

  test('a hundred headers are taken', async () => {
    const more = `Connection: close\r\nContent-Length: 12\r\n${'A: b\r\n'.repeat(94)}`
    expect(answerOf(await edge.raw(`${line}${usual()}${more}\r\n{"Name":"A"}`)).status).toBe(200)
  })

  test.each([
    ['more than 64 KiB', 'Content-Length: 65537'],
    ['nobody knows how much', 'Transfer-Encoding: chunked'],
  ])('of a body that is not read the rest is not waited for: %s', async (_, announced) => {
    const { status, head } = answerOf(await edge.raw(`${line}Host: x\r\n${announced}\r\n\r\n`))
    expect([status, head.toLowerCase()]).toEqual([401, expect.stringContaining('connection: close')])
  })

  test.each(['100-continue', '100-Continue'])(
    'an asked-for %s is given, the answer follows',
    async (asked) => {
      const text = await edge.raw(
        `${line}${usual()}Expect: ${asked}\r\nConnection: close\r\nContent-Length: 12\r\n\r\n{"Name":"A"}`,
      )
      expect(text).toMatch(/^HTTP\/1.1 100 Continue\r\n\r\nHTTP\/1.1 200 OK/)
    },
  )

  test.each(['chunked', 'Chunked'])('a body that comes in pieces, %s, is read whole', async (coding) => {
    const text = await edge.raw(
      `${line}${usual()}Connection: close\r\nTransfer-Encoding: ${coding}\r\n\r\n4\r\n{"Na\r\n8\r\nme":"A"}\r\n0\r\n\r\n`,
    )
    expect(text).toContain('"Results":["A"]')
  })

  test('a thousand pipelined requests are answered in order', async () => {
    const one = (name: number) =>
      `${line}${usual()}Content-Length: 13\r\n\r\n{"Name":"${String(name).padStart(2, '0')}"}`
    const all = Array.from({ length: 1000 }, (_, at) => one(at % 100)).join('')
    const text = await edge.raw(`${all}GET /livez HTTP/1.1\r\nHost: x\r\nConnection: close\r\n\r\n`)
    const names = [...text.matchAll(/"Results":\["(\d\d)"\]/g)].map(([, name]) => Number(name))
    expect(names).toEqual(Array.from({ length: 1000 }, (_, at) => at % 100))
  })

  test.each<[string, () => string]>([
    ['no HTTP', () => 'hello\r\n\r\n'],
    ['a broken body', () => `${line}${usual()}Transfer-Encoding: chunked\r\n\r\nzz\r\n`],
  ])('what came before %s on the connection keeps its own answers', async (_, broken) => {
    const whole = ['A', 'B'].map((name) => `${line}${usual()}Content-Length: 12\r\n\r\n{"Name":"${name}"}`)
    const text = await edge.raw(`${whole.join('')}${broken()}`)
    expect(text.match(/HTTP\/1.1 \d+|"Results":\["."\]|"ErrorCode":"3\d+"/g)).toEqual([
      ...['HTTP/1.1 200', '"Results":["A"]', 'HTTP/1.1 200', '"Results":["B"]'],
      ...['HTTP/1.1 400', '"ErrorCode":"3015"'],
    ])
  })

  test('a body that never comes after its answer gets no second one', async () => {
    const server = createListener(
      (_, response) => response.end('answered'),
      () => 'id',
    )
    Object.assign(server, { headersTimeout: 50, requestTimeout: 50 })
    await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve))
    const text = await new Promise<string>((resolve) => {
      const socket = connect((server.address() as AddressInfo).port, '127.0.0.1')
      let got = ''
      socket.on('data', (data) => {
        got += data.toString()
      })
      socket.on('close', () => resolve(got))
      socket.write('POST / HTTP/1.1\r\nHost: x\r\nContent-Length: 100\r\n\r\n{')
    })
    server.close()
    expect(text.match(/HTTP\/1.1 \d+/g)).toEqual(['HTTP/1.1 200'])
  })

  test('a caller that ends its side after a request is answered', async () => {
    const text = await new Promise<string>((resolve) => {
      const socket = connect({ port: edge.port, host: '127.0.0.1', allowHalfOpen: true })
      let got = ''
      socket.on('data', (data) => {
        got += data.toString()
      })
      socket.on('end', () => {
        socket.destroy()
        resolve(got)
      })
      socket.end(`${line}${usual()}Content-Length: 16\r\n\r\n{"Name":"later"}`)
    })
    expect(answerOf(text)).toMatchObject({ status: 200, json: { Results: ['later'] } })
  })

  test('an endless chunked body is refused and cut off', async () => {
    const chunk = `10000\r\n${'x'.repeat(65_536)}\r\n`
    const text = await new Promise<string>((resolve) => {
      const socket = connect(edge.port, '127.0.0.1')
      let got = ''
      socket.on('data', (data) => {
        got += data.toString()
      })
      socket.on('error', () => undefined)
      socket.on('close', () => resolve(got))
      socket.write(`${line}${usual()}Transfer-Encoding: chunked\r\n\r\n`)
      const more = (): void => {
        // What is written behind the end fails at once, and would be all that the process does.
        if (socket.writable) socket.write(chunk, more)
      }
      more()
    })
    expect(text).toMatch(/^HTTP\/1.1 400 .*"3010"/s)
  })

  test('a caller that leaves in the middle of its body harms nobody', async () => {
    await new Promise<void>((resolve) => {
      const socket = connect(edge.port, '127.0.0.1', () => {
        socket.write(`${line}${usual()}Content-Length: 100\r\n\r\n{`, () => socket.destroy())
      })
      socket.on('close', () => resolve())
    })
    expect((await edge.call('/gen/General/Hello', { key, body: '{"Name":"A"}' })).status).toBe(200)
  })
})
