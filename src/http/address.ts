/**
 * The address that a request counts against. An IPv4 address is the same however the socket spells it; of an
 * IPv6 address the first 64 bits count, because whoever has one has them all. Forwarding headers are not
 * believed.
 */
import type { IncomingMessage } from 'node:http'
import type { Socket } from 'node:net'

const known = new WeakMap<Socket, string>()

/** The caller's address in the form used for counting; empty when the connection is gone. */
export function addressOf({ socket }: IncomingMessage): string {
  let address = known.get(socket)
  if (address === undefined) {
    address = countedAddress(socket.remoteAddress ?? '')
    known.set(socket, address)
  }
  return address
}

export function countedAddress(text: string): string {
  if (text.startsWith('::ffff:') && text.includes('.')) return text.slice('::ffff:'.length)
  if (!text.includes(':')) return text
  const [left = '', right = ''] = (text.split('%')[0] ?? '').split('::')
  const front = left === '' ? [] : left.split(':')
  const back = right === '' ? [] : right.split(':')
  const groups = text.includes('::')
    ? [...front, ...Array<string>(Math.max(0, 8 - front.length - back.length)).fill('0'), ...back]
    : front
  return `${groups.slice(0, 4).join(':')}::/64`
}
