import fc from 'fast-check'
import { describe, expect, test } from 'vitest'
import { composeKey, isUuidKey, maskKey, readKey } from './access-key.ts'

const bytes = (value: number) => ({
  keyId: new Uint8Array(8).fill(value),
  secret: new Uint8Array(32).fill(value),
})
const sample = composeKey('live', bytes(7)).key

describe('access key', () => {
  test('has its stated form and reads back', () => {
    expect(sample).toMatch(/^ls_live_[0-9A-Za-z]{11}_[0-9A-Za-z]{43}_[0-9A-Za-z]{6}$/)
    expect(readKey(sample)).toEqual({ env: 'live', keyId: composeKey('live', bytes(7)).keyId })
  })

  test('ends with the CRC-32 of the rest, so that keys once given out stay keys', () => {
    const [keyId, secret] = ['0bPELAU4eqF', '1fJjkkpe9PiTw9KSulA8Ghct30vZz4HpdQ5c5b9cPF1']
    expect(sample).toBe(`ls_live_${keyId}_${secret}_1yVk6M`)
  })

  test('the largest bytes still fit', () => {
    expect(readKey(composeKey('test', bytes(255)).key)?.env).toBe('test')
  })

  test('any bytes give a key that reads back, different bytes different keys', () => {
    const block = (length: number) => fc.uint8Array({ minLength: length, maxLength: length })
    fc.assert(
      fc.property(block(8), block(32), block(32), (keyId, one, two) => {
        const first = composeKey('live', { keyId, secret: one }).key
        const second = composeKey('live', { keyId, secret: two }).key
        expect(readKey(first)).toBeDefined()
        expect(first === second).toBe(one.every((byte, at) => byte === two[at]))
      }),
    )
  })

  test('one changed character anywhere is noticed', () => {
    for (let at = 0; at < sample.length; at++) {
      const changed = `${sample.slice(0, at)}${sample[at] === 'x' ? 'y' : 'x'}${sample.slice(at + 1)}`
      expect(readKey(changed), `character ${at}`).toBeUndefined()
    }
  })

  test.each([
    ['empty', ''],
    ['space before', ` ${sample}`],
    ['newline after', `${sample}\n`],
    ['a character more', `${sample}0`],
    ['a character less', sample.slice(0, -1)],
    ['ten kilobytes', 'ls_live_'.repeat(1280)],
    ['a UUID', '123e4567-e89b-12d3-a456-426614174000'],
  ])('%s is no key', (_, text) => expect(readKey(text)).toBeUndefined())

  test('UUIDs are told apart', () => {
    expect(isUuidKey('123e4567-E89B-12d3-a456-426614174000')).toBe(true)
    expect(isUuidKey('123e4567-e89b-12d3-a456-42661417400g')).toBe(false)
    expect(isUuidKey(sample)).toBe(false)
  })

  test('the mask shows the start and four characters, never the secret', () => {
    expect(maskKey(sample)).toBe(`ls_live_****${sample.slice(-4)}`)
    expect(maskKey('123e4567-e89b-12d3-a456-426614174000')).toBe('****4000')
  })
})
