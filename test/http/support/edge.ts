/**
 * A whole edge over real HTTP and a real database, with handlers of the test's choosing. The clock stands
 * still until the test moves it.
 */
import { randomBytes } from 'node:crypto'
import { Agent, request as httpRequest, type IncomingHttpHeaders } from 'node:http'
import { connect } from 'node:net'
import type { Dialect } from '../../../src/contract/index.ts'
import type { Role } from '../../../src/domain/people/access.ts'
import { createServer, type Server, type ServerOptions } from '../../../src/http/server.ts'
import { isRefused } from '../../../src/operations/context.ts'
import type { HandlerTable } from '../../../src/operations/handler.ts'
import { type IssuedKey, issueKey, type KeyOrder } from '../../../src/operations/keys.ts'
import { createOperations, type Operations } from '../../../src/operations/operations.ts'
import type { Database } from '../../../src/storage/database/database.ts'
import { afterFile } from '../../support/after-file.ts'
import { testDatabase } from '../../support/database.ts'
import { randomSecrets } from '../../support/secrets.ts'

export const start = Date.UTC(2024, 2, 12, 14)
export const year = 365 * 86_400_000
export const secrets = randomSecrets()

export interface Answered {
  status: number
  headers: IncomingHttpHeaders
  bytes: Buffer
  text: string
  json: unknown
}

export interface Asking {
  method?: string
  /** Undefined members are left out of the usual headers. */
  headers?: Record<string, string | string[] | undefined>
  body?: string | Buffer
  key?: string
}

export interface Edge {
  db: Database
  operations: Operations
  server: Server
  port: number
  clock: { at: number; now(): number }
  /** Lines of the log, as JSON. */
  lines: string[]
  call(path: string, asking?: Asking): Promise<Answered>
  /** Sends bytes as they are and gives all that comes back until the server ends the connection. */
  raw(bytes: string | Buffer): Promise<string>
  person(role?: Role): Promise<number>
  key(personId: number, order?: Partial<KeyOrder>): Promise<IssuedKey>
}

export interface EdgeSettings
  extends Partial<Omit<ServerOptions, 'operations' | 'hosts' | 'log' | 'counts'>> {
  handlers?: HandlerTable
  dialect?: Dialect
  db?: Database
}

const hosts = (dialect: Dialect): ServerOptions['hosts'] => ({
  Gen: { name: 'gen.example', dialect },
  Geo: { name: 'geo.example', dialect },
  WL: { name: 'wl.example', dialect },
})

/** Starts an edge and stops it after the file's tests. */
export async function startEdge(settings: EdgeSettings = {}): Promise<Edge> {
  const db = settings.db ?? (await testDatabase()).db
  const lines: string[] = []
  const note = (fields: object, message: string): void =>
    void lines.push(JSON.stringify({ ...fields, message }))
  const log = { info: note, warn: note, error: note }
  const clock = { at: start, now: () => clock.at }
  const operations = await createOperations({
    db,
    clock,
    handlers: settings.handlers ?? {},
    secrets,
    keyEnvironment: 'test',
    environment: 'T',
    log,
  })
  const {
    isCounting = () => false,
    dialect = 'native',
    pages,
    documents,
    extra,
    afterWrite,
    conditions,
    signs,
    trustedProxies,
    addressWindows,
    publicUrl,
  } = settings
  const server = createServer({
    operations,
    hosts: hosts(dialect),
    isCounting,
    log,
    trustedProxies,
    addressWindows,
    publicUrl,
    ...(pages ? { pages } : {}),
    ...(documents ? { documents } : {}),
    ...(extra ? { extra } : {}),
    ...(afterWrite ? { afterWrite } : {}),
    ...(conditions ? { conditions } : {}),
    ...(signs ? { signs } : {}),
  })
  const url = await server.listen(0, '127.0.0.1')
  const port = Number(new URL(url).port)
  const agent = new Agent({ keepAlive: true, maxSockets: 64 })
  afterFile(async () => {
    agent.destroy()
    await server.close()
    await operations.close()
  })
  return {
    db,
    operations,
    server,
    port,
    clock,
    lines,
    call: (path, asking = {}) => call(port, agent, path, asking),
    raw: (bytes) => raw(port, bytes),
    person: (role = 'user') => insertPerson(db, role),
    key: async (personId, order = {}) => {
      const whole = {
        personId,
        keyEnvironment: 'test',
        expiresAt: clock.now() + year,
        now: clock.now(),
        ...order,
      }
      const issued = await db.transaction((tx) => issueKey(tx, secrets, whole))
      if (isRefused(issued)) throw new Error(issued.refused)
      return issued
    },
  }
}

async function insertPerson(db: Database, role: Role): Promise<number> {
  const name = randomBytes(6).toString('hex')
  const { id } = await db.write.one<{ id: number }>`
    insert into person (site_id, role, alias, first_name, last_name, email, created_at)
    select id, ${role}, ${name}, ${name}, ${name}, ${`${name}@example.org`}, now() from site where kind = 'platform'
    returning id`
  return id
}

function call(
  port: number,
  agent: Agent,
  path: string,
  { method, headers, body, key }: Asking,
): Promise<Answered> {
  const usual: Record<string, string | string[] | undefined> = {
    accept: 'application/json',
    ...(key === undefined ? {} : { authorization: `Bearer ${key}` }),
    ...(body === undefined
      ? {}
      : { 'content-type': 'application/json', 'content-length': String(Buffer.byteLength(body)) }),
    ...headers,
  }
  const sent = Object.fromEntries(Object.entries(usual).filter(([, value]) => value !== undefined))
  return new Promise((resolve, reject) => {
    const request = httpRequest(
      { port, agent, path, method: method ?? (body === undefined ? 'GET' : 'POST'), headers: sent as never },
      (response) => {
        const chunks: Buffer[] = []
        response.on('data', (chunk: Buffer) => chunks.push(chunk))
        response.on('end', () => {
          const bytes = Buffer.concat(chunks)
          const text = bytes.toString()
          const isJson = response.headers['content-type']?.startsWith('application/json') && text !== ''
          const isPlain = response.headers['content-encoding'] === undefined
          const json: unknown = isJson && isPlain ? JSON.parse(text) : undefined
          resolve({ status: response.statusCode ?? 0, headers: response.headers, bytes, text, json })
        })
      },
    )
    request.on('error', reject)
    request.end(body)
  })
}

function raw(port: number, bytes: string | Buffer): Promise<string> {
  return new Promise((resolve, reject) => {
    const socket = connect(port, '127.0.0.1')
    let text = ''
    socket.on('data', (chunk) => {
      text += chunk.toString('latin1')
    })
    socket.on('close', () => resolve(text))
    socket.on('error', (error: NodeJS.ErrnoException) => (text === '' ? reject(error) : resolve(text)))
    socket.write(bytes)
  })
}

/** The parts of an error envelope that tests compare. */
export function faultsOf({ json }: Answered): { code: string; field: string }[] {
  const { ResponseStatus } = json as {
    ResponseStatus: { Errors: { ErrorCode: string; FieldName: string }[] }
  }
  return ResponseStatus.Errors.map(({ ErrorCode, FieldName }) => ({ code: ErrorCode, field: FieldName }))
}
