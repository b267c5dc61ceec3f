/** The platform as a whole: what its processes know of each other. */
import { readdirSync, readFileSync } from 'node:fs'
import { join } from 'node:path'
import { afterAll, expect, test, vi } from 'vitest'
import { openDatabase } from '../../src/storage/database.ts'
import { insertMail } from '../../src/storage/mail.ts'
import { silentLog } from '../support/database-server.ts'
import { newDataDir, removeDataDir, startProduct } from '../support/product.ts'

const dataDir = newDataDir()
afterAll(() => removeDataDir(dataDir))

test('a port that the api chose is in the links that the worker mails', async () => {
  const product = await startProduct({ dataDir, env: { PORT: '0' } })
  const url = readFileSync(join(dataDir, 'database-url'), 'utf8').trim()
  const db = await openDatabase({ url, applicationName: 'tests', log: silentLog })
  const facts = { firstName: 'Ada', siteName: 'Lockstep', token: 'token' }
  await insertMail(db.write, { kind: 'confirm-email', address: 'ada@example.com', facts }, Date.now())
  await db.close()
  const sent = (): string[] =>
    readdirSync(join(dataDir, 'mail')).map((name) => readFileSync(join(dataDir, 'mail', name), 'utf8'))
  await vi.waitFor(() => expect(sent().join()).toContain(`${product.url}/confirm-email/token`), 10_000)
  expect(await product.stop()).toBe(0)
}, 60_000)
