/** A way of our own between a program and the database: what goes over it is heard, bent or cut. */
import { once } from 'node:events'
import { type AddressInfo, connect, createServer, type Socket } from 'node:net'
import { afterFile } from './after-file.ts'

/** Lets pass what goes between the program, which is near, and the server, which is far. */
type Carry = (near: Socket, far: Socket) => void

/** Opens the way to the database of an address until the file's tests are over. */
export async function wayBetween(url: string, carry: Carry) {
  const at = new URL(url.replace('@/', '@localhost/'))
  const folder = at.searchParams.get('host')
  const port = Number(at.searchParams.get('port') ?? (at.port || 5432))
  const sockets = new Set<Socket>()
  const server = createServer({ allowHalfOpen: true }, (near) => {
    const far = connect(
      folder === null ? { host: at.hostname, port } : { path: `${folder}/.s.PGSQL.${port}` },
    )
    carry(near, far)
    for (const [one, other] of [
      [near, far],
      [far, near],
    ] as const) {
      sockets.add(one)
      one.on('error', () => undefined).on('close', () => other.destroy())
    }
  })
  server.listen(0, '127.0.0.1')
  await once(server, 'listening')
  const cut = (): void => {
    for (const socket of sockets) socket.destroy()
  }
  afterFile(() => {
    cut()
    server.close()
  })
  const { port: nearPort } = server.address() as AddressInfo
  return { url: url.replace(/@[^/]*(\/[^?]*).*$/, `@127.0.0.1:${nearPort}$1`), cut }
}
