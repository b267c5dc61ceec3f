/**
 * Calls to addresses that others have named. Only https on its usual ports, only public addresses: a name is resolved
 * once, every address it has is tested, and the connection goes to one that was. No redirect is followed, an answer
 * is not waited for longer than 15 seconds nor read beyond 64 KiB.
 */
import { lookup } from 'node:dns/promises'
import type { LookupFunction } from 'node:net'
import ipaddr from 'ipaddr.js'
import { Agent } from 'undici'

export interface OutboundRules {
  /** For checks: this machine's own addresses and plain http are allowed as well. */
  readonly permitsLocal?: boolean
  /** Finds the addresses of a name; absent: this machine's resolver. */
  readonly resolve?: (name: string) => Promise<readonly string[]>
}

export interface Outbound {
  /** Sends a body; answers the status. Rejects when no answer came or the address is refused. */
  post(url: string, headers: Readonly<Record<string, string>>, body: string): Promise<number>
  close(): Promise<void>
}

/** What is refused about an address before it is called; undefined when it may be. */
export function urlFault(text: string, { permitsLocal = false }: OutboundRules = {}): string | undefined {
  if (!URL.canParse(text)) return 'it is no address'
  const { protocol, port, username, password, hostname } = new URL(text)
  if (username !== '' || password !== '') return 'it holds a name or a password'
  if (permitsLocal && protocol === 'http:') return hostFault(hostname, permitsLocal)
  if (protocol !== 'https:') return 'it does not begin with https://'
  if (!permitsLocal && port !== '' && port !== '8443') return 'its port is neither 443 nor 8443'
  return hostFault(hostname, permitsLocal)
}

/** Of a host that is an address itself. The parser of addresses has made one spelling of all of them. */
function hostFault(hostname: string, permitsLocal: boolean): string | undefined {
  const bare = hostname.replace(/^\[|\]$/g, '')
  if (!ipaddr.isValid(bare) || isAllowed(bare, permitsLocal)) return undefined
  return 'it is not a public address'
}

const globalUnicast: [ipaddr.IPv6, number] = [ipaddr.IPv6.parse('2000::'), 3]

/** True for an address of the public internet: no private, local, shared, reserved or translated one. */
export function isPublicAddress(address: string): boolean {
  if (!ipaddr.isValid(address)) return false
  const parsed = ipaddr.parse(address)
  if (parsed.range() !== 'unicast') return false
  return parsed instanceof ipaddr.IPv4 || parsed.match(globalUnicast)
}

const isAllowed = (address: string, permitsLocal: boolean): boolean =>
  isPublicAddress(address) || (permitsLocal && ipaddr.parse(address).range() === 'loopback')

const resolved = async (name: string): Promise<string[]> =>
  (await lookup(name, { all: true })).map(({ address }) => address)

/** Resolves a name for a connection; fails unless every address of it may be called. */
const testedLookup =
  ({ permitsLocal = false, resolve = resolved }: OutboundRules): LookupFunction =>
  (name, options, callback) => {
    resolve(name).then(
      (addresses) => {
        const tested = addresses.map((address) => ({ address, family: address.includes(':') ? 6 : 4 }))
        const [first] = tested
        const isRefused = tested.some(({ address }) => !isAllowed(address, permitsLocal))
        if (!first || isRefused) callback(new Error('the name has no public address alone'), '', 4)
        else if (options.all) callback(null, tested)
        else callback(null, first.address, first.family)
      },
      (error: Error) => callback(error, '', 4),
    )
  }

const timeoutMs = 15_000
const answerBytes = 64 * 1024

/** Opens the way out under the rules. */
export function createOutbound(rules: OutboundRules = {}): Outbound {
  // Many sites may be told at one host: a call that waited for another's answer would fail without having been made. How
  // many are on their way is limited where they are claimed.
  const agent = new Agent({
    connect: { lookup: testedLookup(rules), timeout: timeoutMs },
    headersTimeout: timeoutMs,
    bodyTimeout: timeoutMs,
  })
  return {
    post: async (url, headers, body) => {
      const fault = urlFault(url, rules)
      if (fault !== undefined) throw new Error(fault)
      const { origin, pathname, search } = new URL(url)
      const signal = AbortSignal.timeout(timeoutMs)
      const call = { origin, path: pathname + search, method: 'POST', headers, body, signal } as const
      const answer = await agent.request(call)
      // The status has come; what follows it changes nothing.
      await answer.body.dump({ limit: answerBytes, signal }).catch(() => undefined)
      return answer.statusCode
    },
    close: () => agent.destroy(),
  }
}
