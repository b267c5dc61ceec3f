import fc from 'fast-check'
import { describe, expect, test } from 'vitest'
import { refusedPassword } from './password.ts'

const ann = { email: 'Ann.Lee.Smith@example.com', names: ['Annabella', 'Leeward', 'anniestar'] }

describe('a password', () => {
  test.each([
    ['of seven characters', 'Ab3$xyz', '8 to 128'],
    ['of 129 characters', `${'ab'.repeat(64)}c`, '8 to 128'],
    ['of seven characters that are fourteen units', '🙂'.repeat(7), '8 to 128'],
    ['that everybody tries', 'PassWord123', 'too common'],
    ['of one character', 'zzzzzzzzzz', 'too common'],
    ['that is the address', 'ann.lee.smith@EXAMPLE.com', 'owner'],
    ['that is the first part of the address', 'ann.lee.smith', 'owner'],
    ['that is a name', 'ANNABELLA', 'owner'],
    ['that is all names', 'annabella leeward anniestar', 'owner'],
  ])('%s is refused', (_, password, words) => {
    expect(refusedPassword(password, ann)).toContain(words)
  })

  test.each([
    'Ab3$xyzw',
    'ab'.repeat(64),
    'correct horse battery staple',
    'annabella1',
    '🙂🙃'.repeat(4),
    '        x',
  ])('%s will do', (password) => {
    expect(refusedPassword(password, ann)).toBeUndefined()
  })

  test('is judged by its length alone when nobody would guess it', () => {
    const unlikely = fc.string({ minLength: 0, maxLength: 140 }).filter((text) => new Set(text).size > 4)
    fc.assert(
      fc.property(unlikely, (text) => {
        const isRefused = refusedPassword(`~#${text}`, ann) !== undefined
        const length = [...text].length + 2
        expect(isRefused).toBe(length < 8 || length > 128)
      }),
    )
  })
})
