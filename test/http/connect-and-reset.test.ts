/** Callers that ask for a tunnel and are gone before they are refused. */
import { once } from 'node:events'
import { type AddressInfo, connect } from 'node:net'
import { setTimeout as delay } from 'node:timers/promises'
import { expect, test } from 'vitest'
import { createListener } from '../../src/http/listener.ts'

test('a caller who is gone before CONNECT was refused ends nothing but his connection', async () => {
  const server = createListener(
    (_, response) => response.end('fine'),
    () => 'id',
  ).listen(0, '127.0.0.1')
  await once(server, 'listening')
  const { port } = server.address() as AddressInfo
  const unheard: unknown[] = []
  const note = (error: unknown): unknown => unheard.push(error)
  process.on('uncaughtException', note)
  for (let tries = 0; tries < 200; tries++) {
    const socket = connect(port, '127.0.0.1').on('error', () => undefined)
    socket.write('CONNECT a:1 HTTP/1.1\r\nHost: a\r\n\r\n')
    socket.once('connect', () => setImmediate(() => socket.resetAndDestroy()))
    await once(socket, 'close')
  }
  await delay(50)
  process.off('uncaughtException', note)
  server.close()
  expect(unheard).toEqual([])
})
