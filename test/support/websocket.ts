/** The least of RFC 6455 that a server for one client library needs: text both ways, pings answered, closing. */
import { createHash } from 'node:crypto'
import type { IncomingMessage, Server } from 'node:http'
import type { Duplex } from 'node:stream'

export interface Peer {
  send(text: string): void
  /** Cuts the connection without a word. */
  cut(): void
}

const guid = '258EAFA5-E914-47DA-95CA-C5AB0DC85B11'
const opcodes = { text: 1, binary: 2, close: 8, ping: 9, pong: 10 }

function frame(opcode: number, payload: Buffer): Buffer {
  const { length } = payload
  const head =
    length < 126
      ? Buffer.from([0x80 | opcode, length])
      : length < 65_536
        ? Buffer.from([0x80 | opcode, 126, length >> 8, length & 0xff])
        : Buffer.concat([Buffer.from([0x80 | opcode, 127]), bigEndian(length)])
  return Buffer.concat([head, payload])
}

function bigEndian(length: number): Buffer {
  const bytes = Buffer.alloc(8)
  bytes.writeBigUInt64BE(BigInt(length))
  return bytes
}

/** Takes the first whole frame of what has arrived. */
function firstFrame(buffer: Buffer): { opcode: number; payload: Buffer; rest: Buffer } | undefined {
  const [first = 0, second = 0] = buffer
  const short = second & 0x7f
  const at = short === 126 ? 4 : short === 127 ? 10 : 2
  if (buffer.length < at + 4) return undefined
  const length =
    short === 126 ? buffer.readUInt16BE(2) : short === 127 ? Number(buffer.readBigUInt64BE(2)) : short
  if (buffer.length < at + 4 + length) return undefined
  const mask = buffer.subarray(at, at + 4)
  const payload = buffer.subarray(at + 4, at + 4 + length).map((byte, place) => byte ^ (mask[place % 4] ?? 0))
  return { opcode: first & 0x0f, payload: Buffer.from(payload), rest: buffer.subarray(at + 4 + length) }
}

/** Lets clients of the server open sockets: `hear` gets each text, `leave` the end. */
export function acceptSockets(
  server: Server,
  hear: (peer: Peer, text: string) => void,
  leave: (peer: Peer) => void,
): void {
  server.on('upgrade', (request: IncomingMessage, socket: Duplex) => {
    const key = createHash('sha1').update(`${request.headers['sec-websocket-key']}${guid}`).digest('base64')
    socket.write(
      `HTTP/1.1 101 Switching Protocols\r\nUpgrade: websocket\r\nConnection: Upgrade\r\nSec-WebSocket-Accept: ${key}\r\n\r\n`,
    )
    const peer: Peer = {
      send: (text) => socket.writable && socket.write(frame(opcodes.text, Buffer.from(text))),
      cut: () => socket.destroy(),
    }
    let arrived = Buffer.alloc(0)
    socket.on('data', (chunk: Buffer) => {
      arrived = Buffer.concat([arrived, chunk])
      for (let next = firstFrame(arrived); next; next = firstFrame(arrived)) {
        arrived = Buffer.from(next.rest)
        if (next.opcode === opcodes.text || next.opcode === opcodes.binary)
          hear(peer, next.payload.toString())
        else if (next.opcode === opcodes.ping) socket.write(frame(opcodes.pong, next.payload))
        else if (next.opcode === opcodes.close) socket.end(frame(opcodes.close, next.payload))
      }
    })
    socket.on('error', () => undefined)
    socket.on('close', () => leave(peer))
  })
}
