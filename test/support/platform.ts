/**
 * A whole platform for a test file: the three hosts, the worker and the door in this process, over real HTTP and
 * a database of its own, stopped and dropped after the file's tests.
 */
import { randomBytes } from 'node:crypto'
import { afterAll, inject } from 'vitest'
import type { Dialect } from '../../src/contract/index.ts'
import { type DoorPlatform, startDoorPlatform } from '../../src/door/platform.ts'
import type { Message } from '../../src/services/mail.ts'
import { openDatabase } from '../../src/storage/database/database.ts'
import { identifier } from '../../src/storage/database/sql.ts'
import { silentLog } from './database-server.ts'
import { randomSecrets } from './secrets.ts'

export const secrets = randomSecrets()
export const keyEnvironment = 'test'

export interface TestPlatform extends DoorPlatform {
  /** Lines that the platform logged as errors. */
  readonly errors: string[]
  /** Everything that it logged. */
  readonly logged: string[]
  /** Messages that went out. */
  readonly mails: Message[]
}

/** Starts an empty platform whose hosts speak one dialect. */
export async function testPlatform(dialect: Dialect = 'native'): Promise<TestPlatform> {
  const { url: serverUrl, failure } = inject('databaseServer')
  if (serverUrl === '') throw new Error(`there is no database server: ${failure}`)
  const database = `lockstep_door_${randomBytes(6).toString('hex')}`
  const errors: string[] = []
  const logged: string[] = []
  const note = (fields: object, message: string): string => {
    const line = `${message} ${JSON.stringify(fields, errorText)}`
    logged.push(line)
    return line
  }
  const log = {
    info: note,
    warn: note,
    error: (...said: [object, string]) => void errors.push(note(...said)),
  }
  const mails: Message[] = []
  const mailer = { send: async (message: Message) => void mails.push(message), close: () => {} }
  const platform = await startDoorPlatform({
    mailer,
    serverUrl,
    database,
    port: 0,
    host: '127.0.0.1',
    hosts: { Gen: { dialect }, Geo: { dialect }, WL: { dialect } },
    secrets,
    keyEnvironment,
    environment: 'T',
    production: false,
    log,
  })
  afterAll(async () => {
    await platform.close()
    const admin = await openDatabase({
      url: serverUrl,
      applicationName: 'tests',
      log: silentLog,
      poolSize: 1,
      readers: 1,
      statementTimeoutMs: 60_000,
    })
    try {
      await admin.write.run`drop database ${identifier(database)}`
    } finally {
      await admin.close()
    }
  })
  return { ...platform, errors, logged, mails }
}

const errorText = (_: string, value: unknown): unknown => (value instanceof Error ? value.stack : value)
