/** The three hosts: which route of the table each offers, in each dialect. */
import type { Group, Method, Row } from './row.ts'
import type { Dialect, HostName } from './schema.ts'
import { groups, type OperationName } from './table.ts'

/** Facts of a host that the documents and the reference show, and the first part of a path that leads to it. */
export const hostFacts: Readonly<Record<HostName, { title: string; file: string; prefix: string }>> = {
  Gen: { title: 'Lockstep: general host', file: 'general', prefix: 'gen' },
  Geo: { title: 'Lockstep: GeoSite host', file: 'geo', prefix: 'geo' },
  WL: { title: 'Lockstep: WhiteLabel host', file: 'whitelabel', prefix: 'wl' },
}

export interface Route {
  readonly method: Method
  readonly path: string
  readonly operation: OperationName
  readonly row: Row
  /** 2 on the routes under /v2. */
  readonly version: 1 | 2
  readonly group: Group
}

/** Every route of a host, in the order of the table. */
export function routesOf(host: HostName, dialect: Dialect): readonly Route[] {
  return Object.entries(groups).flatMap(([group, members]) =>
    Object.entries(members).flatMap(([name, row]) =>
      pathsOf(row, `/${group}/${row.operation ?? name}`, host, dialect).map((place) => ({
        method: row.method,
        operation: name as OperationName,
        row,
        group: group as Group,
        ...place,
      })),
    ),
  )
}

/** The paths of a row on a host; none where the host does not offer it. */
function pathsOf(
  row: Row,
  path: string,
  host: HostName,
  dialect: Dialect,
): Pick<Route, 'path' | 'version'>[] {
  if (row.paths !== undefined)
    return row.paths
      .filter(({ hosts, compatOnly }) => hosts.includes(host) && !(compatOnly && dialect === 'native'))
      .map(({ path, version }) => ({ path, version }))
  const isOffered = row.hosts.includes(host) || (dialect === 'compat' && row.compatHosts?.includes(host))
  return isOffered ? [{ path, version: 1 }] : []
}
