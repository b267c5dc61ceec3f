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

export const portFault = ({ port, host, chosenBy }: Port, error: NodeJS.ErrnoException): Error =>
  error.code === 'EADDRINUSE'
    ? new ConfigError(`port ${port} of ${host} is in use; choose another by ${chosenBy}`)
    : error

/** Takes the port for a moment: a child that cannot have it would be started again and say so each time. */
export async function tryPort(wanted: Port): Promise<void> {
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
