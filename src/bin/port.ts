/** The ports that a process listens on, and what is said when one cannot be had. */
import { once } from 'node:events'
import { createServer } from 'node:net'
import { ConfigError } from './config.ts'

/** A port, and the variable that chooses it. */
export interface Port {
  readonly port: number
  readonly host: string
  readonly chosenBy: 'PORT' | 'METRICS_PORT'
}

/** Where an address leads. One of http does not name the port that all of http have. */
export const portOf = (url: string): number => Number(new URL(url).port || 80)

/** What is wrong with a port or its address, and which variables choose another. */
export function portFault({ port, host, chosenBy }: Port, error: NodeJS.ErrnoException): Error {
  if (error.code === 'EADDRINUSE')
    return new ConfigError(`port ${port} of ${host} is in use; choose another by ${chosenBy}`)
  const { code = error.message } = error
  const chosen = { PORT: 'PORT or HOST', METRICS_PORT: 'METRICS_PORT or METRICS_HOST' }[chosenBy]
  return new ConfigError(
    `port ${port} of ${host} cannot be had: ${whyOf[code] ?? code}; choose another by ${chosen}`,
  )
}

const whyOf: Readonly<Record<string, string>> = {
  ENOTFOUND: 'nobody knows this name',
  EADDRNOTAVAIL: 'this machine has no such address',
  EACCES: 'this user may not have it',
}

/** Takes the ports for a moment: a child that cannot have its own would be started again and say so each time. */
export async function tryPorts(wanted: readonly Port[]): Promise<void> {
  assertApart(wanted)
  for (const each of wanted) await tryPort(each)
}

/** One by one they are free, also where they are the same. */
function assertApart(wanted: readonly Port[]): void {
  const chosen = wanted.map(({ port }) => port).filter((port) => port !== 0)
  if (new Set(chosen).size < chosen.length)
    throw new ConfigError(
      `PORT, METRICS_PORT and the port after METRICS_PORT must be different, not ${chosen.join(', ')}`,
    )
}

async function tryPort(wanted: Port): Promise<void> {
  const server = createServer()
  server.listen(wanted.port, wanted.host)
  try {
    await once(server, 'listening')
  } catch (error) {
    throw portFault(wanted, error as NodeJS.ErrnoException)
  }
  server.close()
  await once(server, 'close')
}
