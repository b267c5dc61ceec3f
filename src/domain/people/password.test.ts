import fc from 'fast-check'
import { describe, expect, test } from 'vitest'
import { refusedAtSite, refusedPassword } from './password.ts'

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

describe('a password at a site', () => {
  const site = { code: 'northwind', name: 'North Wind Trading', domain: 'northwindtrading.example' }

  test.each([
    'Lockstep',
    'lockstep2024',
    'Northwind1',
    'north wind trading',
    'NorthWindTrading99',
    'northwindtrading.example',
    'northwindtrading.example1',
  ])('%s is refused', (password) => {
    expect(refusedAtSite(password, site)).toContain('site')
  })

  test.each(['lockstep of soldiers', 'north wind blows', '12345678', 'xlockstep'])(
    '%s will do',
    (password) => {
      expect(refusedAtSite(password, site)).toBeUndefined()
    },
  )

  test.each(['Area 5100', 'area512024'])(
    '%s is refused where the name itself ends in a number',
    (password) => {
      expect(refusedAtSite(password, { code: 'a', name: 'Area 51', domain: null })).toContain('site')
    },
  )

  test('is refused however its accents are written', () => {
    const name = 'Zürcher Börse'
    const password = name.normalize('NFD')
    expect(password).not.toBe(name)
    expect(refusedAtSite(password, { code: 'a', name, domain: null })).toContain('site')
    expect(refusedPassword(password, { email: 'a@b.example', names: [name] })).toContain('owner')
  })

  test('is no word of a site that has none', () => {
    expect(refusedAtSite('20240312', { code: '', name: '', domain: '' })).toBeUndefined()
  })
})
