import fc from 'fast-check'
import { describe, expect, test } from 'vitest'
import { newSealingKey, seal, unseal } from './sealing.ts'

const key = newSealingKey()

describe('sealed data', () => {
  test('comes back as it was, and looks different each time', () => {
    fc.assert(
      fc.property(fc.uint8Array({ maxLength: 200 }), fc.string(), (plain, owner) => {
        const [one, two] = [seal(key, plain, owner), seal(key, plain, owner)]
        expect(unseal(key, one, owner).equals(plain)).toBe(true)
        expect(one.equals(two)).toBe(false)
      }),
    )
  })

  test('does not open with another key, for another owner, or with a changed, missing or added byte', () => {
    const sealed = seal(key, Buffer.from('passport'), 'person 1')
    expect(() => unseal(newSealingKey(), sealed, 'person 1')).toThrow()
    expect(() => unseal(key, sealed, 'person 2')).toThrow()
    for (let at = 0; at < sealed.length; at++) {
      const changed = Buffer.from(sealed)
      changed[at] = (changed[at] ?? 0) ^ 1
      expect(() => unseal(key, changed, 'person 1')).toThrow()
    }
    expect(() => unseal(key, sealed.subarray(1), 'person 1')).toThrow()
    expect(() => unseal(key, Buffer.concat([sealed, Buffer.of(0)]), 'person 1')).toThrow()
    expect(() => unseal(key, Buffer.alloc(5), 'person 1')).toThrow()
  })
})
