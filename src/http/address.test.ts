import type { IncomingMessage } from 'node:http'
import { describe, expect, test } from 'vitest'
import { countedAddress, createAddressReader, readNetworks } from './address.ts'

test.each([
  ['127.0.0.1', '127.0.0.1'],
  ['::ffff:10.1.2.3', '10.1.2.3'],
  ['::1', '0:0:0:0::/64'],
  ['2001:db8::1', '2001:db8:0:0::/64'],
  ['2001:db8:1:2:3:4:5:6', '2001:db8:1:2::/64'],
  ['2001:db8:1:2:ffff::', '2001:db8:1:2::/64'],
  ['2001::2:3:4:5:6', '2001:0:0:2::/64'],
  ['fe80::1%eth0', 'fe80:0:0:0::/64'],
  ['', ''],
])('%s counts as %s', (text, expected) => expect(countedAddress(text)).toBe(expected))

const proxies = '10.0.0.0/8, 192.0.2.1,2001:db8:f::/48, fe80::/10'
const counted = (peer: string, forwarded?: string, trusted: string | undefined = proxies): string => {
  const headers = forwarded === undefined ? {} : { 'x-forwarded-for': forwarded }
  const request = { socket: { remoteAddress: peer }, headers } as unknown as IncomingMessage
  return createAddressReader(trusted === '' ? undefined : readNetworks(trusted))(request)
}

describe('behind proxies', () => {
  test.each<[string, string, string | undefined, string]>([
    ['a caller without a proxy is not believed', '203.0.113.9', '198.51.100.1', '203.0.113.9'],
    ['a proxy is', '10.1.2.3', '198.51.100.1', '198.51.100.1'],
    ['one on a socket for both families too', '::ffff:10.1.2.3', '198.51.100.1', '198.51.100.1'],
    ['one by IPv6 too', '2001:db8:f::7', '198.51.100.1', '198.51.100.1'],
    ['one on a link of its own too', 'fe80::1%eth0', '198.51.100.1', '198.51.100.1'],
    ['one that says nothing is the caller', '10.1.2.3', undefined, '10.1.2.3'],
    ['and so when it says nothing of use', '10.1.2.3', 'unknown', '10.1.2.3'],
    ['and so when it says an empty word', '10.1.2.3', '198.51.100.1, ', '10.1.2.3'],
    ['what the caller invented stands to the left', '10.1.2.3', '127.0.0.1, 198.51.100.1', '198.51.100.1'],
    ['an invented proxy too', '10.1.2.3', '1.1.1.1, 10.9.9.9, 198.51.100.1', '198.51.100.1'],
    ['proxies in a row', '10.1.2.3', '1.1.1.1, 198.51.100.1, 192.0.2.1, 10.3.3.3', '198.51.100.1'],
    ['nobody but proxies: the first', '10.1.2.3', '10.7.7.7,192.0.2.1', '10.7.7.7'],
    ['garbage ends the row at the proxy that said it', '10.1.2.3', '198.51.100.1, ;, 192.0.2.1', '192.0.2.1'],
    ['a neighbour of a proxy is none', '192.0.2.2', '198.51.100.1', '192.0.2.2'],
    ['with a port', '10.1.2.3', '198.51.100.1:4711', '198.51.100.1'],
    ['in brackets', '10.1.2.3', '[2001:db8:1:2::9]', '2001:db8:1:2::/64'],
    ['in brackets with a port', '10.1.2.3', '[2001:db8:1:2::9]:80', '2001:db8:1:2::/64'],
    ['in another spelling', '10.1.2.3', '2001:0DB8:0001:2:0:0:0:9', '2001:db8:1:2::/64'],
    ['an IPv4 address as IPv6', '10.1.2.3', '::FFFF:c633:6401', '198.51.100.1'],
  ])('%s', (_, peer, forwarded, expected) => expect(counted(peer, forwarded)).toBe(expected))

  test('nobody is believed when no proxy is named', () =>
    expect(counted('127.0.0.1', '198.51.100.1', '')).toBe('127.0.0.1'))
})

test.each([
  ...['', ' ', '10.0.0.1,', 'proxy.example', '10.0.0.0/33', '2001:db8::/129', '10.0.0.0/', '10.0.0/8', '/8'],
  ...['10.0.0.0/8/8', '10.0.0.0/-1', 'fe80::1%eth0', '[::1]', '10.0.0.1:80', '*', 'true', '1'],
])('%j names no networks', (text) => expect(readNetworks(text)).toBeUndefined())
