/**
 * Which operation a request is for. A host is found by its name in the Host header; where no name matches, by
 * the first part of the path. Paths and methods are compared as they are: no decoding, no folding of case, no
 * forgiving of slashes, so one operation has one address.
 */
import {
  type CompiledRow,
  compileRow,
  type Dialect,
  type HostName,
  hostFacts,
  hostNames,
  type Input,
  type Route,
  routesOf,
} from '../contract/index.ts'
import { readQuery } from './query.ts'

/** How one host is reached and speaks. */
interface HostSettings {
  /** Its name in the Host header, without a port; none when it is reached by path prefix alone. */
  readonly name?: string
  readonly dialect: Dialect
}

export type Hosts = Readonly<Record<HostName, HostSettings>>

export interface Destination extends Route {
  readonly host: HostName
  readonly dialect: Dialect
  readonly compiled: CompiledRow
  /** The parameters of a query string, or all that is wrong with them; undefined when it cannot be decoded. */
  readonly readQuery: (text: string) => Input | undefined
}

type Table = ReadonlyMap<string, Destination>

/** Compiles every route of every host; gives the look-up by method, Host header and path without query. */
export function createRouter(
  hosts: Hosts,
): (method: string, host: string | undefined, path: string) => Destination | undefined {
  const tables = new Map(hostNames.map((host) => [host, tableOf(host, hosts[host].dialect)]))
  const named = new Map<string, Table>()
  const prefixed: Table = new Map(
    [...tables].flatMap(([host, table]) =>
      [...table.values()].map((to) => [`${to.method} /${hostFacts[host].prefix}${to.path}`, to] as const),
    ),
  )
  for (const [host, table] of tables) {
    const { name } = hosts[host]
    if (name !== undefined && name !== '') named.set(name.toLowerCase(), table)
  }
  return (method, host, path) => {
    const table = named.size === 0 || host === undefined ? undefined : named.get(hostNameOf(host))
    return (table ?? prefixed).get(`${method} ${path}`)
  }
}

function tableOf(host: HostName, dialect: Dialect): Table {
  return new Map(
    routesOf(host, dialect).map((route) => {
      const compiled = compileRow(route.row, host, dialect, route.version)
      return [
        `${route.method} ${route.path}`,
        { ...route, host, dialect, compiled, readQuery: rememberingReader(compiled) },
      ]
    }),
  )
}

const rememberedMax = 200
const rememberedLength = 500

/** Whoever polls asks by the same words again and again: what they mean is worked out once. */
function rememberingReader({ readInput }: CompiledRow): Destination['readQuery'] {
  const remembered = new Map<string, Input>()
  return (text) => {
    const known = remembered.get(text)
    if (known !== undefined) return known
    const query = readQuery(text)
    const input = query && readInput(query)
    if (input === undefined || text.length > rememberedLength) return input
    if (remembered.size >= rememberedMax) remembered.clear()
    remembered.set(text, frozen(input))
    return input
  }
}

/** Frozen through and through: it is shared by all who ask the same. */
function frozen<Value>(value: Value): Value {
  if (typeof value === 'object' && value !== null && !Object.isFrozen(value))
    Object.values(Object.freeze(value)).forEach(frozen)
  return value
}

/** The name in a Host header, without port and the dot of a rooted name. */
const hostNameOf = (header: string): string => header.toLowerCase().replace(/\.?(?::[0-9]*)?$/, '')
