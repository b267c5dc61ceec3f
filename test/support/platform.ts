/**
 * A whole platform for a test file: the three hosts, the worker and the door in this process, over real HTTP and
 * a database of its own, stopped and dropped after the file's tests.
 */
import { randomBytes } from 'node:crypto'
import { inject } from 'vitest'
import type { Dialect } from '../../src/contract/index.ts'
import { type DoorPlatform, startDoorPlatform } from '../../src/door/platform.ts'
import type { Message } from '../../src/services/mail.ts'
import { afterFile } from './after-file.ts'
import { createDatabase, dropDatabase } from './database.ts'
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
  // It would migrate one of its own, statement by statement.
  await createDatabase(serverUrl, database)
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
  afterFile(async () => {
    await platform.close()
    await dropDatabase(serverUrl, database)
  })
  return { ...platform, errors, logged, mails }
}

const errorText = (_: string, value: unknown): unknown => (value instanceof Error ? value.stack : value)
