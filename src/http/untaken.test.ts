import { EventEmitter, once } from 'node:events'
import { createServer, type ServerResponse } from 'node:http'
import { type AddressInfo, connect, type Socket } from 'node:net'
import { afterEach, beforeEach, describe, expect, test, vi } from 'vitest'
import { createUntaken, type Untaken, type UntakenLimits } from './untaken.ts'

const size = 8 * 1024 * 1024
const body = Buffer.alloc(size, 'x')
const hour = 3_600_000
/** Nobody is cut off by these. */
const lenient = {
  bytesMin: 1024,
  patienceMs: hour,
  bytesPerMs: 1,
  heldMax: 10 * size,
  graceMs: 0,
  crowdedBytesPerMs: hour,
  lookEveryMs: 5,
}

const ends: (() => unknown)[] = []
afterEach(() => Promise.all(ends.splice(0).map((end) => end())))

/** A server whose every answer is large, and somebody who asks it and reads nothing before being told to. */
async function scene(limits: Partial<UntakenLimits>) {
  const untaken: Untaken = createUntaken({ ...lenient, ...limits })
  const answered: ServerResponse[] = []
  const server = createServer((_, response) => {
    response.writeHead(200, { 'Content-Length': size }).end(body)
    untaken.note(response, size)
    answered.push(response)
    server.emit('answered')
  })
  server.listen(0, '127.0.0.1')
  await once(server, 'listening')
  ends.push(() => server.close())
  const ask = async (times = 1): Promise<Socket> => {
    const { port } = server.address() as AddressInfo
    const reader = connect(port, '127.0.0.1').on('error', () => undefined)
    reader.pause()
    ends.push(() => reader.destroy())
    const told = once(server, 'answered')
    reader.write('GET / HTTP/1.1\r\nHost: here\r\n\r\n'.repeat(times))
    await told
    return reader
  }
  return { untaken, answered, ask }
}

/** An error of the connection is one way for it to end. */
const ended = (response?: ServerResponse): Promise<unknown> | undefined =>
  response?.req.socket.destroyed
    ? undefined
    : new Promise((resolve) => response?.req.socket.once('close', resolve))

test('an answer that nobody takes is held for its time and no longer', async () => {
  const { untaken, answered, ask } = await scene({ patienceMs: 20, bytesPerMs: size })
  await ask()
  expect(untaken.held()).toBe(size)
  await ended(answered[0])
  await expect.poll(untaken.held).toBe(0)
})

test('a large answer has more time than a small one', async () => {
  const { untaken, answered, ask } = await scene({ patienceMs: 0, bytesPerMs: size / hour })
  const reader = await ask()
  reader.resume()
  await once(answered[0]!, 'close')
  expect(answered[0]?.writableFinished).toBe(true)
  expect(untaken.held()).toBe(0)
})

test('once too much is held the oldest answers are cut off, until it is little enough', async () => {
  const { untaken, answered, ask } = await scene({ heldMax: 2 * size })
  await ask()
  await ask()
  expect(untaken.held()).toBe(2 * size)
  await ask()
  await ended(answered[0])
  await expect.poll(untaken.held).toBe(2 * size)
  expect(answered.map(({ req }) => req.socket.destroyed)).toEqual([true, false, false])
})

test('not who takes his as fast as that', async () => {
  vi.useFakeTimers({ toFake: ['setInterval', 'clearInterval'] })
  ends.push(() => vi.useRealTimers())
  const { untaken, answered, ask } = await scene({ heldMax: 0, crowdedBytesPerMs: 1 / hour })
  const reader = await ask()
  // The connection has taken a part, though most of the answer still waits.
  vi.advanceTimersByTime(2 * lenient.lookEveryMs)
  expect(untaken.held()).toBe(size)
  reader.resume()
  await once(answered[0]!, 'close')
  expect(answered[0]?.writableFinished).toBe(true)
})

test('not before their grace is over', async () => {
  const { untaken, answered, ask } = await scene({ heldMax: 0, graceMs: hour })
  const reader = await ask()
  expect(untaken.held()).toBe(size)
  reader.resume()
  await once(answered[0]!, 'close')
  expect(answered[0]?.writableFinished).toBe(true)
})

test('a reader who goes leaves nothing behind, also of answers that stood in line', async () => {
  const { untaken, answered, ask } = await scene({})
  const reader = await ask(2)
  await expect.poll(untaken.held).toBe(2 * size)
  reader.destroy()
  await ended(answered[0])
  await expect.poll(untaken.held).toBe(0)
})

test('a small answer is nobody’s burden', async () => {
  const { untaken, ask } = await scene({ bytesMin: size + 1 })
  await ask()
  expect(untaken.held()).toBe(0)
})

describe('answers to what was asked in one go', () => {
  const lookEveryMs = 10
  const looks = (times: number) => vi.advanceTimersByTime(times * lookEveryMs)
  beforeEach(() => {
    vi.useFakeTimers({ toFake: ['setInterval', 'clearInterval', 'performance'] })
    ends.push(() => vi.useRealTimers())
  })

  /** A connection whose reader takes nothing. */
  const connection = () => {
    const socket = { destroyed: false, writableLength: 1, _handle: { writeQueueSize: size }, destroy }
    function destroy(): void {
      socket.destroyed = true
    }
    return socket
  }
  type Connection = ReturnType<typeof connection>
  const waitingOn = (socket: Connection) =>
    Object.assign(new EventEmitter(), {
      req: { socket },
      writableFinished: false,
      socket: null as Connection | null,
    })
  type Waiting = ReturnType<typeof waitingOn>
  const beginning = (response: Waiting): Waiting => {
    response.socket = response.req.socket
    response.emit('socket', response.socket)
    return response
  }
  const watch = (limits: Partial<UntakenLimits>, ...responses: readonly Waiting[]): Untaken => {
    const untaken = createUntaken({ ...lenient, lookEveryMs, ...limits })
    for (const response of responses) untaken.note(response as unknown as ServerResponse, size)
    return untaken
  }

  test('have their own time from when their turn comes', () => {
    const socket = connection()
    const [first, second] = [beginning(waitingOn(socket)), waitingOn(socket)]
    watch({ patienceMs: 5 * lookEveryMs, bytesPerMs: size }, first, second)
    looks(5)
    first.emit('close')
    beginning(second)
    looks(5)
    expect(socket.destroyed).toBe(false)
    looks(2)
    expect(socket.destroyed).toBe(true)
  })

  test('are not late while a larger one before them is taken', () => {
    const socket = connection()
    const untaken = watch({ patienceMs: 0, bytesPerMs: size / hour }, beginning(waitingOn(socket)))
    untaken.note(waitingOn(socket) as unknown as ServerResponse, lenient.bytesMin)
    looks(100)
    expect(socket.destroyed).toBe(false)
  })

  test('go together, and nobody else is cut off for those that are gone', () => {
    const [idle, other] = [connection(), connection()]
    const [first, second] = [beginning(waitingOn(idle)), waitingOn(idle)]
    const untaken = watch({ heldMax: 1.5 * size }, first, beginning(waitingOn(other)), second)
    looks(1)
    expect([idle.destroyed, other.destroyed, untaken.held()]).toEqual([true, false, size])
  })

  test('are held together, however small each is', () => {
    const untaken = createUntaken()
    for (let asked = 0; asked < 100; asked++)
      untaken.note(waitingOn(connection()) as unknown as ServerResponse, 50_000)
    expect(untaken.held()).toBe(5_000_000)
  })
})
