/** Connections of which nothing comes any more once they are made: a firewall forgot them, or the machine is gone. */
import type { Socket } from 'node:net'
import { setTimeout as delay } from 'node:timers/promises'
import { expect, test } from 'vitest'
import { openDatabase } from '../../src/storage/database/database.ts'
import { DatabaseUnavailable } from '../../src/storage/database/failure.ts'
import { makeListener } from '../../src/storage/database/listener.ts'
import { testDatabase } from '../support/database.ts'
import { silentLog } from '../support/database-server.ts'
import { wayBetween } from '../support/way-between.ts'

const { url } = await testDatabase()
const way = { isSilent: false }
const readyForQuery = 'Z'.charCodeAt(0)
const readyBytes = 6

/** Lets new connections come as far as their first readiness. */
const { url: through, cut } = await wayBetween(url, (near, far) => {
  let isSilent = false
  near.on('data', (data) => isSilent || far.write(data)).on('end', () => near.end())
  far.on('data', (data) => {
    if (isSilent) return
    near.write(data)
    isSilent = way.isSilent && data.at(-readyBytes) === readyForQuery
  })
})

test('a connection that goes silent before it was set up holds up nobody for long', async () => {
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

test('a listener whose connection has gone silent makes another one, and looks', async () => {
  const ways: { isSilent: boolean }[] = []
  const { url: direct } = await wayBetween(url, (near, far) => {
    const own = { isSilent: false }
    ways.push(own)
    near.on('data', (data) => own.isSilent || far.write(data)).on('end', () => near.end())
    far.on('data', (data) => own.isSilent || near.write(data))
  })
  const config = { connectionString: direct, connectionTimeoutMillis: 5_000 }
  const heartbeat = { everyMs: 20, patienceMs: 200 }
  const listener = makeListener(config, 'select 1', silentLog, heartbeat)
  const heard: unknown[] = []
  await listener.listen('work', (payload) => heard.push(payload))
  while (heard.length === 0) await delay(20)
  for (const own of ways) own.isSilent = true
  while (heard.length === 1) await delay(20)
  expect(heard).toEqual([undefined, undefined])
  for (const own of ways) own.isSilent = true
  await listener.close()
})

test('whoever ends does not wait for a server that has gone silent', async () => {
  const way = { isSilent: false }
  const left = new Set<Socket>()
  const { url: direct } = await wayBetween(url, (near, far) => {
    left.add(near)
    near.on('close', () => left.delete(near)).on('data', (data) => way.isSilent || far.write(data))
    far.on('data', (data) => way.isSilent || near.write(data))
  })
  const options = { applicationName: 'tests', log: silentLog, statementTimeoutMs: 100 }
  const db = await openDatabase({ url: direct, ...options })
  await db.write.one`select 1 as one`
  way.isSilent = true
  expect(left.size).toBeGreaterThan(1)
  await db.close()
  // What stayed open would keep the process alive, and would go on taking what comes.
  while (left.size > 0) {
    for (const near of left) near.write('.')
    await delay(20)
  }
})
