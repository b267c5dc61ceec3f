/** Names shared by the run's setup and the tests. */

export const TEMPLATE = 'lockstep_template'

export const silentLog = { info: () => undefined, warn: () => undefined, error: () => undefined }

/** The same server, another database. */
export function databaseUrl(url: string, name: string): string {
  return url.replace(/@([^/]*)\/[^?]*/, `@$1/${name}`)
}
