import fc from 'fast-check'
import { describe, expect, test } from 'vitest'
import {
  type ClientOrderKey,
  clientOrderId,
  clientOrderIdPrefix,
  type OrderSource,
  parseClientOrderId,
} from './client-order-id.ts'

const key = fc.record<ClientOrderKey>({
  environment: fc.stringMatching(/^[0-9A-Z]{1,4}$/),
  setupId: fc.maxSafeNat(),
  source: fc.constantFrom<OrderSource>('S', 'Y', 'M', 'L', 'X'),
  sourceId: fc.maxSafeNat(),
  revision: fc.nat(36 ** 4 - 1),
})

describe('client order id', () => {
  test('reads as its parts', () => {
    const id = clientOrderId({ environment: 'P', setupId: 71, source: 'S', sourceId: 1_000_000, revision: 0 })
    expect(id).toBe('LSP-1Z-SLFLS-0')
  })

  test('the largest fits a FIX venue', () => {
    const largest = Number.MAX_SAFE_INTEGER
    const parts = { environment: 'PROD', setupId: largest, source: 'S', sourceId: largest } as const
    expect(clientOrderId({ ...parts, revision: 36 ** 4 - 1 })).toHaveLength(36)
  })

  test('is read back exactly, also when a broker folds the case', () => {
    fc.assert(
      fc.property(key, (parts) => {
        const id = clientOrderId(parts)
        expect(id).toMatch(/^[0-9A-Z-]{1,36}$/)
        expect(id.startsWith(clientOrderIdPrefix(parts.environment))).toBe(true)
        expect(parseClientOrderId(id)).toEqual(parts)
        expect(parseClientOrderId(id.toLowerCase())).toEqual(parts)
      }),
    )
  })

  test.each([
    ['', 'empty'],
    ['LSP-1-S1', 'no revision'],
    ['LSP-01-S1-0', 'a leading zero'],
    ['LSP-1-Q1-0', 'no such source'],
    ['LSPPPPP-1-S1-0', 'too long an environment'],
    ['LSP-ZZZZZZZZZZZ-S1-0', 'beyond whole numbers'],
    ['xLSP-1-S1-0', 'something before'],
    ['LSP-1-S1-0 ', 'something after'],
    ['LſP-1-S1-0', 'a letter that folds to S'],
  ])('%j is foreign: %s', (id) => {
    expect(parseClientOrderId(id)).toBeNull()
  })

  test('refuses what has no id', () => {
    const parts: ClientOrderKey = { environment: 'P', setupId: 1, source: 'S', sourceId: 1, revision: 0 }
    expect(() => clientOrderId({ ...parts, revision: 36 ** 4 })).toThrow(RangeError)
    expect(() => clientOrderId({ ...parts, sourceId: -1 })).toThrow(RangeError)
    expect(() => clientOrderId({ ...parts, setupId: 0.5 })).toThrow(RangeError)
    expect(() => clientOrderId({ ...parts, environment: 'p-' })).toThrow(RangeError)
  })
})
