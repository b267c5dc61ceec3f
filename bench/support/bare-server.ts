/**
 * The least a server can do: node:http, the key's hash looked up in memory, a fixed body of the size of one
 * order; a POST is parsed and validated first. No envelope, no limits, and no database, unless it is given one to
 * write the rows of an order to. Started as a child.
 */
import { createHash } from 'node:crypto'
import { createServer, type IncomingMessage, type ServerResponse } from 'node:http'
import type { AddressInfo } from 'node:net'
import { Ajv } from 'ajv'
import { createRowWriter } from './row-writer.ts'

const [key = '', body = '', url] = process.argv.slice(2)
const keep = url === undefined ? undefined : await createRowWriter(url)
const keys = new Map([[createHash('sha256').update(key).digest('hex'), 'owner']])

const validate = new Ajv({ allErrors: true }).compile({
  type: 'object',
  required: ['Order'],
  additionalProperties: false,
  properties: {
    Order: {
      type: 'object',
      required: ['StrategyId', 'OrderType', 'Side', 'OrderQuantity', 'TIF'],
      additionalProperties: false,
      properties: {
        StrategyId: { type: 'integer' },
        OrderType: { enum: ['1', '2', '3'] },
        Side: { enum: ['1', '2'] },
        OrderQuantity: { type: 'number', exclusiveMinimum: 0 },
        Limit: { type: 'number' },
        TIF: { enum: ['0', '1'] },
        PlatformSymbol: {
          type: 'object',
          required: ['FullSymbol', 'SymbolType'],
          properties: { FullSymbol: { type: 'string' }, SymbolType: { type: 'string' } },
        },
      },
    },
  },
})

function isKnown(request: IncomingMessage): boolean {
  const token = request.headers.authorization?.slice('Bearer '.length) ?? ''
  return keys.has(createHash('sha256').update(token).digest('hex'))
}

function say(response: ServerResponse, status: number, text: string): void {
  response.writeHead(status, {
    'content-type': 'application/json',
    'content-length': Buffer.byteLength(text),
  })
  response.end(text)
}

const sayPlaced = (response: ServerResponse, id: number): void =>
  say(response, 200, `{"Results":[{"SignalId":${id}}],"ResponseStatus":{"ErrorCode":"200"}}`)

const server = createServer((request, response) => {
  if (!isKnown(request)) {
    say(response, 401, '{}')
    return
  }
  if (request.method === 'GET') {
    say(response, 200, body)
    return
  }
  const chunks: Buffer[] = []
  request.on('data', (chunk: Buffer) => chunks.push(chunk))
  request.on('end', () => {
    const sent = JSON.parse(Buffer.concat(chunks).toString())
    if (!validate(sent)) say(response, 400, '{}')
    else if (keep) void keep(sent.Order).then((id) => sayPlaced(response, id))
    else sayPlaced(response, 1)
  })
})
server.listen(0, '127.0.0.1', () =>
  process.send?.(`http://127.0.0.1:${(server.address() as AddressInfo).port}`),
)
process.once('disconnect', () => process.exit())
