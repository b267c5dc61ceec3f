/** Connections of which nothing comes any more once they are made: a firewall forgot them, or the machine is gone. */
import { once } from 'node:events'
import { type AddressInfo, connect, createServer, type Socket } from 'node:net'
import { setTimeout as delay } from 'node:timers/promises'
import { afterAll, expect, test } from 'vitest'
import { openDatabase } from '../../src/storage/database/database.ts'
import { DatabaseUnavailable } from '../../src/storage/database/failure.ts'
import { testDatabase } from '../support/database.ts'
import { silentLog } from '../support/database-server.ts'

const { url } = await testDatabase()
const at = new URL(url.replace('@/', '@localhost/'))
const folder = at.searchParams.get('host')
const port = Number(at.searchParams.get('port') ?? (at.port || 5432))
const way = { isSilent: false }
const sockets = new Set<Socket>()
const readyForQuery = 'Z'.charCodeAt(0)
const readyBytes = 6

/** Lets new connections come as far as their first readiness. */
const between = createServer((near) => {
  const far = connect(folder === null ? { host: at.hostname, port } : { path: `${folder}/.s.PGSQL.${port}` })
  let isSilent = false
  near.on('data', (data) => isSilent || far.write(data))
  far.on('data', (data) => {
    if (isSilent) return
    near.write(data)
    isSilent = way.isSilent && data.at(-readyBytes) === readyForQuery
  })
  for (const [one, other] of [
    [near, far],
    [far, near],
  ] as const) {
    sockets.add(one)
    one.on('error', () => undefined).on('close', () => other.destroy())
  }
})
between.listen(0, '127.0.0.1')
await once(between, 'listening')
const cut = (): void => {
  for (const socket of sockets) socket.destroy()
}
afterAll(() => {
  cut()
  between.close()
})

test('a connection that goes silent before it was set up holds up nobody for long', async () => {
  const { port: nearPort } = between.address() as AddressInfo
  const through = url.replace(/@[^/]*(\/[^?]*).*$/, `@127.0.0.1:${nearPort}$1`)
  const db = await openDatabase({ url: through, applicationName: 'tests', log: silentLog })
  const heard: unknown[] = []
  const ask = () =>
    Promise.allSettled([
      db.read.one`select 1 as one`,
      db.write.one`select 1 as one`,
      db.transaction((tx) => tx.one`select 1 as one`),
    ])
  await ask()
  way.isSilent = true
  cut()
  await db.listen('work', (payload) => heard.push(payload))
  for (const answer of await ask())
    expect(answer).toMatchObject({ status: 'rejected', reason: expect.any(DatabaseUnavailable) })
  way.isSilent = false
  for (const answer of await ask()) expect(answer).toMatchObject({ status: 'fulfilled', value: { one: 1 } })
  while (heard.length === 0) await delay(20)
  await db.close()
})
