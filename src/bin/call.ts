/** Any operation of the interface without a key: asked by the operator, or in the name and with the rights of a person. */
import { compileRow, takesBody, textOf } from '../contract/index.ts'
import type { Database } from '../storage/database/database.ts'
import { callerOf, openRunner, refusal, routeOf } from './asking.ts'
import { type Config, ConfigError } from './config.ts'
import { told } from './tool.ts'

export interface Asked {
  readonly operation: string
  /** The first host that offers it where none is named. */
  readonly host?: string | undefined
  /** With the rights of this person; otherwise those of the platform. */
  readonly personId?: number | undefined
  /** The members of a body, or the names and texts of a query. */
  readonly params: object
}

/** The results of one call. Throws a ConfigError with the reason when it is refused. */
export async function askOperation(db: Database, config: Config, asked: Asked): Promise<unknown> {
  const { operation, row, version, host } = routeOf(asked.operation, asked.host)
  if (operation === 'GetAccessKey')
    throw new ConfigError(
      'GetAccessKey shows the key that a call comes with, and here it comes with none: keys list shows those of a person',
    )
  const audience = { host, dialect: 'native' as const }
  const compiled = compileRow(row, host, 'native', version)
  const query = new Map(Object.entries(asked.params).map(([name, value]) => [name, [String(value)]]))
  const input = compiled.readInput(takesBody(row) ? asked.params : query)
  if ('faults' in input) throw refusal(asked.operation, input.faults)
  const run = await openRunner(db, config)
  const caller = await callerOf(db.read, asked.personId)
  const from = { requestId: 'call', origin: 'http://localhost' }
  // What is written in the name of the platform itself has nobody to name; the rows say so.
  const reply = await told(run({ operation, compiled, params: input.params, caller, ...audience, ...from }))
  const answer: unknown = JSON.parse(textOf(reply.body))
  if (reply.status === 200)
    return typeof answer === 'object' ? (answer as { Results: unknown }).Results : answer
  throw refusal(asked.operation, (answer as { ResponseStatus: { Errors: [] } }).ResponseStatus.Errors)
}
