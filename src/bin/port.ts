/** The port of the three hosts, and what is said when it cannot be had. */
import { once } from 'node:events'
import { createServer } from 'node:net'
import { type Config, ConfigError } from './config.ts'

export const portFault = ({ port, host }: Config, error: NodeJS.ErrnoException): Error =>
  error.code === 'EADDRINUSE'
    ? new ConfigError(`port ${port} of ${host} is in use; choose another by PORT`)
    : error

/** Takes the port for a moment: a child that cannot have it would be started again and say so each time. */
export async function tryPort(config: Config): Promise<void> {
  const server = createServer()
  server.listen(config.port, config.host)
  try {
    await once(server, 'listening')
  } catch (error) {
    throw portFault(config, error as NodeJS.ErrnoException)
  }
  server.close()
  await once(server, 'close')
}
