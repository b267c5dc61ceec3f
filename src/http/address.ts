/**
 * The address that a request counts against. An IPv4 address is the same however it is spelled; of an IPv6 address the
 * first 64 bits count, because whoever has one has them all. What `X-Forwarded-For` says is believed only of proxies
 * that the operator named: each adds the address that it was asked from at the end, so from the right the first one
 * that is no such proxy is the caller, and whatever stands before it may be anybody's invention.
 */
import type { IncomingMessage } from 'node:http'
import { BlockList, isIP, type Socket, SocketAddress } from 'node:net'

/** The caller's address in the form used for counting; empty when the connection is gone. */
export type AddressOf = (request: IncomingMessage) => string

/** Addresses and networks. */
export type Networks = BlockList

/** Reads `10.0.0.0/8, 192.0.2.1, 2001:db8::/32`; undefined when a part of it is neither an address nor a network. */
export function readNetworks(text: string): Networks | undefined {
  const networks = new BlockList()
  for (const part of text.split(',').map((one) => one.trim())) {
    const [, address = '', bits] = /^([^/]*)(?:\/(\d{1,3}))?$/.exec(part) ?? []
    const family = familyOf(address)
    if (family === undefined) return undefined
    const most = family === 'ipv4' ? 32 : 128
    if (Number(bits ?? most) > most) return undefined
    networks.addSubnet(address, Number(bits ?? most), family)
  }
  return networks
}

/** Reads the address of a request; without proxies that are trusted it is the socket's. */
export function createAddressReader(proxies?: Networks): AddressOf {
  const known = new WeakMap<Socket, { counted: string; isProxy: boolean }>()
  return (request) => {
    const { socket } = request
    let peer = known.get(socket)
    if (peer === undefined) {
      const address = socket.remoteAddress ?? ''
      peer = { counted: countedAddress(address), isProxy: proxies !== undefined && isIn(proxies, address) }
      known.set(socket, peer)
    }
    return proxies !== undefined && peer.isProxy ? callerOf(request, proxies, peer.counted) : peer.counted
  }
}

/** Whom the proxies say they were asked by; the last proxy itself where they do not say. */
function callerOf({ headers }: IncomingMessage, proxies: Networks, proxy: string): string {
  // Several lines of it are one list, which Node has joined.
  const hops = String(headers['x-forwarded-for'] ?? '').split(',')
  let caller = proxy
  for (const hop of hops.reverse()) {
    const address = readHop(hop)
    if (address === undefined) break
    caller = countedAddress(address)
    if (!isIn(proxies, address)) break
  }
  return caller
}

/** An address as proxies write it, some with brackets or a port, in its usual spelling. */
function readHop(text: string): string | undefined {
  const hop = text.trim()
  const [, address = hop] = /^\[([^\]]*)\](?::\d+)?$/.exec(hop) ?? /^([\d.]+):\d+$/.exec(hop) ?? []
  const family = familyOf(address)
  return family && new SocketAddress({ address, family }).address
}

const familyOf = (address: string): 'ipv4' | 'ipv6' | undefined =>
  address.includes('%') ? undefined : families[isIP(address)]

/** As Node numbers and as it names them. */
const families: Record<number, 'ipv4' | 'ipv6'> = { 4: 'ipv4', 6: 'ipv6' }

function isIn(networks: Networks, address: string): boolean {
  const bare = address.split('%', 1)[0] ?? ''
  const family = familyOf(bare)
  return family !== undefined && networks.check(bare, family)
}

/** Whom a rate limit counts: of IPv6 the network, as one machine has all of its addresses. */
export function countedAddress(text: string): string {
  if (text.startsWith('::ffff:') && text.includes('.')) return text.slice('::ffff:'.length)
  if (!text.includes(':')) return text
  const [left = '', right = ''] = text.split('::')
  const front = left === '' ? [] : left.split(':')
  const back = right === '' ? [] : right.split(':')
  const groups = text.includes('::')
    ? [...front, ...Array<string>(Math.max(0, 8 - front.length - back.length)).fill('0'), ...back]
    : front
  return `${groups.slice(0, 4).join(':')}::/64`
}
