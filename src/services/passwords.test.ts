import { describe, expect, test } from 'vitest'
import { createPasswords, HashingBusy } from './passwords.ts'

const passwords = createPasswords(Buffer.alloc(32, 1))

describe('a stored password', () => {
  test('is argon2id with its cost, another text each time, and opens for its word alone', async () => {
    const [one, two] = await Promise.all([passwords.hash('correct horse'), passwords.hash('correct horse')])
    expect(one).toMatch(/^\$argon2id\$v=19\$m=19456,t=2,p=1\$/)
    expect(one).not.toBe(two)
    expect(await passwords.verify(one, 'correct horse')).toBe(true)
    expect(await passwords.verify(one, 'correct horsf')).toBe(false)
  })

  test('opens for nobody who has the table without the secret', async () => {
    const stored = await passwords.hash('correct horse')
    expect(await createPasswords(Buffer.alloc(32, 2)).verify(stored, 'correct horse')).toBe(false)
  })

  test('is none for a person without one, whatever is tried', async () => {
    expect(await passwords.verify(null, 'nobody')).toBe(false)
  })
})

test('more than two at work and 32 waiting are turned away, and the rest are done', async () => {
  const tries = await Promise.allSettled(Array.from({ length: 40 }, () => passwords.hash('x')))
  const away = tries.filter(({ status }) => status === 'rejected')
  expect(away.length).toBe(6)
  expect(away.every((one) => one.status === 'rejected' && one.reason instanceof HashingBusy)).toBe(true)
  expect(await passwords.hash('again')).toContain('argon2id')
}, 30_000)
