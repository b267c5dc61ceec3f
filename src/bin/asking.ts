/**
 * How the operator asks an operation without a key: over which route, in whose name and with which parameters, and what a
 * refusal says to whoever typed it.
 */
import { type HostName, hostNames, type Route, routesOf } from '../contract/index.ts'
import type { Caller } from '../operations/context.ts'
import { handlers } from '../operations/index.ts'
import { createRunner, type Run } from '../operations/run.ts'
import type { Database } from '../storage/database/database.ts'
import type { Sql } from '../storage/database/sql.ts'
import { findPlatformSite } from '../storage/operating/provision.ts'
import { findTenant } from '../storage/people/access.ts'
import { operator } from './acting.ts'
import { systemClock } from './clock.ts'
import { type Config, ConfigError } from './config.ts'
import { environments } from './environment.ts'
import { openSecrets } from './secrets.ts'

/** Runs operations on the platform's own database. */
export async function openRunner(db: Database, config: Config): Promise<Run> {
  const secrets = await openSecrets(config, db)
  return createRunner({ db, clock: systemClock, handlers, secrets, environment: environments(config).orders })
}

/** Who asks: a person with that person's rights or, without one, the operator, who sees everything. */
export async function callerOf(sql: Sql, personId: number | undefined): Promise<Caller> {
  const own = { accessKeyId: 0, keyId: 'export', operator: operator().who }
  if (personId === undefined) {
    const siteId = await findPlatformSite(sql)
    return { ...own, personId: 0, role: 'platform_admin', siteId, siteKind: 'platform', permissions: null }
  }
  const tenant = await findTenant(sql, personId)
  if (!tenant) throw new ConfigError(`there is no living person ${personId}`)
  return { ...own, personId, ...tenant }
}

/** The route of an operation: on the host that is named, else on the first that offers it. Throws ConfigError. */
export function routeOf(operation: string, wanted: string | undefined): Route & { host: HostName } {
  if (wanted !== undefined && !hostNames.includes(wanted as HostName))
    throw new ConfigError(`host must be one of ${hostNames.join(', ')}, not ${wanted}`)
  for (const host of wanted === undefined ? hostNames : [wanted as HostName]) {
    const route = routesOf(host, 'native').find((candidate) => candidate.operation === operation)
    if (route) return { ...route, host }
  }
  throw new ConfigError(
    wanted === undefined ? `no host offers ${operation}` : `the host ${wanted} does not offer ${operation}`,
  )
}

/** The texts of each parameter as they are typed: Name=value. Throws ConfigError. */
export function parameterTexts(words: readonly string[]): Map<string, string[]> {
  const query = new Map<string, string[]>()
  for (const word of words) {
    const [, name, value] = /^(\w+)=(.*)$/s.exec(word) ?? []
    if (name === undefined || value === undefined)
      throw new ConfigError(`a parameter is written Name=value, not ${word}`)
    query.set(name, [...(query.get(name) ?? []), value])
  }
  return query
}

/** Parameters as they are typed; one that is repeated is a list. */
export const parametersOf = (words: readonly string[]): object =>
  Object.fromEntries([...parameterTexts(words)].map(([name, values]) => [name, values.join(',')]))

interface Fault {
  readonly FieldName: string
  readonly Message: string
}

/** Why a call was refused, in words for whoever typed it. */
export const refusal = (listing: string, faults: readonly Fault[]): ConfigError =>
  new ConfigError(
    `${listing} was refused: ${faults.map(({ FieldName, Message }) => `${FieldName} ${Message}`.trim()).join('; ')}`,
  )
