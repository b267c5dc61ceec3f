import { randomBytes } from 'node:crypto'
import { describe, expect, test } from 'vitest'
import { type KeyRing, rewrap, seal, unseal } from './vault.ts'

const [one, two] = [randomBytes(32), randomBytes(32)]
const ring: KeyRing = { current: 'one', keys: new Map([['one', one]]) }
const both: KeyRing = { current: 'two', keys: new Map([['one', one], ['two', two]]) } // biome-ignore format: short
const place = 'account_credential 7 password'

describe('a sealed secret', () => {
  test.each(['', 'pässword 🙂', 'x'.repeat(10_000)])('opens where it was made: %.10s', (text) => {
    expect(unseal(ring, seal(ring, text, place), place).toString()).toBe(text)
  })

  test('shows nothing of itself and never looks the same', () => {
    const [first, second] = [seal(ring, 'secret', place), seal(ring, 'secret', place)]
    expect(first.sealed.equals(second.sealed)).toBe(false)
    expect(Buffer.concat([first.sealed, first.wrappedKey]).includes('secret')).toBe(false)
  })

  test('opens in no other row, with no other key, and not when a bit has changed', () => {
    const sealed = seal(ring, 'secret', place)
    const other: KeyRing = { current: 'one', keys: new Map([['one', two]]) }
    expect(() => unseal(ring, sealed, 'account_credential 8 password')).toThrow()
    expect(() => unseal(other, sealed, place)).toThrow()
    expect(() => unseal({ current: 'two', keys: new Map() }, sealed, place)).toThrow('no key one')
    for (const part of ['sealed', 'wrappedKey'] as const) {
      const bent = Buffer.from(sealed[part])
      bent[bent.length - 1] = (bent.at(-1) ?? 0) ^ 1
      expect(() => unseal(ring, { ...sealed, [part]: bent }, place)).toThrow()
    }
    const stranger = seal(ring, 'other', place)
    expect(() => unseal(ring, { ...sealed, wrappedKey: stranger.wrappedKey }, place)).toThrow()
  })

  test('moves to a new key without being opened', () => {
    const old = seal(ring, 'secret', place)
    const moved = rewrap(both, old, place)
    expect([moved.keyId, moved.sealed.equals(old.sealed)]).toEqual(['two', true])
    const alone: KeyRing = { current: 'two', keys: new Map([['two', two]]) }
    expect(unseal(alone, moved, place).toString()).toBe('secret')
    expect(() => unseal(alone, old, place)).toThrow()
  })
})
