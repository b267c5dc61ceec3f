import { createServer } from 'node:http'
import type { AddressInfo } from 'node:net'
import { afterAll, describe, expect, test, vi } from 'vitest'
import { createOutbound, isPublicAddress, urlFault } from './outbound.ts'

describe('addresses', () => {
  test.each(['8.8.8.8', '1.1.1.1', '2606:4700:4700::1111', '2a00:1450:4001:81b::200e'])(
    '%s is public',
    (one) => expect(isPublicAddress(one)).toBe(true),
  )
  test.each([
    ...['0.0.0.0', '0.1.2.3', '10.1.2.3', '100.64.0.1', '127.0.0.1', '127.255.255.254', '169.254.169.254'],
    ...[
      '172.16.0.1',
      '172.31.255.255',
      '192.0.0.8',
      '192.0.2.1',
      '192.168.1.1',
      '198.18.0.1',
      '198.51.100.1',
    ],
    ...['203.0.113.1', '224.0.0.1', '239.255.255.255', '240.0.0.1', '255.255.255.255', '192.88.99.1'],
    ...['::', '::1', '::7f00:1', '::ffff:127.0.0.1', '::ffff:8.8.8.8', '64:ff9b::7f00:1', '64:ff9b:1::1'],
    ...['2002:7f00:1::', '2001::1', '2001:db8::1', 'fc00::1', 'fd12::1', 'fe80::1', 'fec0::1', 'ff02::1'],
    ...['100::1', '4000::1', 'localhost', ''],
  ])('"%s" is not', (one) => expect(isPublicAddress(one)).toBe(false))
})

describe('what may be called', () => {
  test.each([
    'https://example.com/x',
    'https://example.com:8443/',
    'https://8.8.8.8/',
    'https://example.com:443',
  ])('%s', (url) => expect(urlFault(url)).toBeUndefined())
  test.each([
    ...['http://example.com/', 'ftp://example.com/', 'https://example.com:22/', 'https://a:b@example.com/'],
    ...['https://a@example.com/', 'no address', '', 'https://127.0.0.1/', 'https://2130706433/'],
    ...[
      'https://0x7f000001/',
      'https://0177.0.0.1/',
      'https://127.1/',
      'https://0x7f.1/',
      'https://127.0.0.1./',
    ],
    ...['https://127。0。0。1/', 'https://[::1]/', 'https://[::ffff:7f00:1]/', 'https://[fe80::1%25eth0]/'],
    ...['https://0/', 'https://169.254.169.254/latest/', 'https://①②⑦.0.0.1/', 'https://[::]/'],
  ])('"%s" may not', (url) => expect(urlFault(url)).toEqual(expect.any(String)))
})

describe('a call', () => {
  const asked: string[] = []
  const server = createServer((request, response) => {
    asked.push(request.url ?? '')
    if (request.url === '/moved') response.writeHead(302, { location: '/elsewhere' }).end()
    else if (request.url === '/silent') return
    else if (request.url === '/endless') response.writeHead(200).write('x'.repeat(300_000))
    else response.writeHead(200).end('fine')
  })
  const listening = new Promise<number>((resolve) =>
    server.listen(0, '127.0.0.1', () => resolve((server.address() as AddressInfo).port)),
  )
  const local = createOutbound({ permitsLocal: true })
  const named = (addresses: readonly string[], permitsLocal = false) =>
    createOutbound({ permitsLocal, resolve: async () => addresses })
  afterAll(async () => {
    await local.close()
    server.closeAllConnections()
    server.close()
  })

  test('answers the status; a redirect is an answer like any other', async () => {
    const base = `http://127.0.0.1:${await listening}`
    expect(await local.post(`${base}/fine`, {}, '{}')).toBe(200)
    expect(await local.post(`${base}/moved`, {}, '{}')).toBe(302)
    expect(await local.post(`${base}/endless`, {}, '{}')).toBe(200)
    expect(asked).toEqual(['/fine', '/moved', '/endless'])
  })

  test('does not wait for others at the same host that get no answer', async () => {
    const base = `http://127.0.0.1:${await listening}`
    const own = createOutbound({ permitsLocal: true })
    const silent = [1, 2, 3, 4].map(() => own.post(`${base}/silent`, {}, '{}').catch(() => 'no answer'))
    await vi.waitUntil(() => asked.filter((path) => path === '/silent').length >= 2)
    const fine = own.post(`${base}/fine`, {}, '{}')
    expect(await Promise.race([fine, ...silent])).toBe(200)
    await own.close()
    expect(await Promise.all(silent)).toEqual(silent.map(() => 'no answer'))
  })

  test.each([[['127.0.0.1']], [['8.8.8.8', '10.0.0.1']], [[]]])(
    'goes nowhere when its name means %j',
    async (addresses) => {
      const before = asked.length
      const call = named(addresses).post('https://inner.example/', {}, '{}')
      await expect(call).rejects.toThrow('no public address alone')
      expect(asked).toHaveLength(before)
    },
  )

  test('connects to the address that was tested', async () => {
    const port = await listening
    expect(await named(['127.0.0.1'], true).post(`http://site.example:${port}/named`, {}, '{}')).toBe(200)
    expect(asked.at(-1)).toBe('/named')
  })
})
