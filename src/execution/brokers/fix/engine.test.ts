/** The engine with counterparties that keep to the standard less than QuickFIX does. */
import { once } from 'node:events'
import { type AddressInfo, createServer, type Server, type Socket } from 'node:net'
import { setTimeout as delay } from 'node:timers/promises'
import { afterEach, expect, test, vi } from 'vitest'
import { type FixConnection, loadEngine, openConnection } from './engine.ts'
import { readFixSettings } from './settings.ts'

const engine = await loadEngine()
const soh = '\x01'
let server: Server | undefined
let connection: FixConnection | undefined

afterEach(() => {
  connection?.cut()
  server?.close()
})

/** A message of the counterparty. */
function framed(type: string, seqNum: number, body: string): string {
  const time = new Date().toISOString().replaceAll('-', '').replace('T', '-').slice(0, -1)
  const text = `35=${type}|34=${seqNum}|49=BROKER|52=${time}|56=US|${body}`.replaceAll('|', soh)
  const all = `8=FIX.4.4${soh}9=${text.length}${soh}${text}`
  const sum = [...Buffer.from(all)].reduce((total, byte) => (total + byte) % 256, 0)
  return `${all}10=${String(sum).padStart(3, '0')}${soh}`
}

/** Connects to a counterparty that answers the log-on with this body and says nothing more by itself. */
async function logOn(answer: string, heartbeatSeconds = 30) {
  const heard: string[] = []
  const sockets: Socket[] = []
  const counterparty = createServer((socket) => {
    sockets.push(socket)
    socket.on('error', () => undefined)
    socket.once('data', () => socket.write(framed('A', 1, answer)))
    socket.on('data', (data) => heard.push(data.toString()))
  }).listen(0, '127.0.0.1')
  server = counterparty
  await once(counterparty, 'listening')
  const { port } = counterparty.address() as AddressInfo
  const names = { host: '127.0.0.1', port, senderCompId: 'US', targetCompId: 'BROKER' }
  const opened = await openConnection(
    engine,
    { ...readFixSettings(names), heartbeatSeconds },
    { inbound: 1, outbound: 1, isReset: false },
    { take: () => undefined, loggedOn: () => undefined, moved: () => undefined, alarm: () => undefined },
  )
  connection = opened
  const isUp = () => opened.conversation.isReady
  await vi.waitFor(() => expect(isUp()).toBe(true))
  const hasHeard = (type: string): boolean => heard.join('').includes(`${soh}35=${type}${soh}`)
  return { opened, isUp, hasHeard, say: (text: string) => sockets[0]?.write(text) }
}

test.each([
  ['says no interval of heartbeats', '98=0|'],
  ['says that it sends none', '98=0|108=0|'],
])('a counterparty that %s is not taken for silent at once', async (_, answer) => {
  const { isUp } = await logOn(answer)
  await delay(700)
  expect(isUp()).toBe(true)
})

test('a counterparty that announces rare heartbeats is asked and given up in our own time', async () => {
  const { opened, hasHeard } = await logOn('98=0|108=300|', 1)
  await expect(opened.ended).resolves.toContain('not responding')
  expect(hasHeard('1')).toBe(true)
})

test('nothing is sent to a counterparty that has logged out and does not hang up', async () => {
  const { opened, isUp, hasHeard, say } = await logOn('98=0|108=30|')
  say(framed('5', 2, ''))
  await vi.waitFor(() => expect(hasHeard('5')).toBe(true))
  expect(isUp()).toBe(false)
  await expect(opened.ended).resolves.toBeUndefined()
})

test('a log-out that comes while it is asked whether anybody is there is answered', async () => {
  const { opened, isUp, hasHeard, say } = await logOn('98=0|108=1|', 1)
  await vi.waitFor(() => expect(hasHeard('1')).toBe(true), { timeout: 5_000 })
  say(framed('5', 2, ''))
  await vi.waitFor(() => expect(hasHeard('5')).toBe(true))
  expect(isUp()).toBe(false)
  await expect(opened.ended).resolves.toBeUndefined()
})

test('nothing is sent to a counterparty after our own log-out', async () => {
  const { opened, isUp, hasHeard } = await logOn('98=0|108=30|')
  const loggedOut = opened.logOut()
  expect(isUp()).toBe(false)
  await vi.waitFor(() => expect(hasHeard('5')).toBe(true))
  await loggedOut
})
