/** Secrets of a platform that lives as long as a test. */
import { randomBytes } from 'node:crypto'
import type { Secrets } from '../../src/operations/secrets.ts'

export const randomSecrets = (): Secrets => ({
  pepper: randomBytes(32),
  cursor: randomBytes(32),
  passwords: randomBytes(32),
  personalData: randomBytes(32),
  keyRing: { current: 'test', keys: new Map([['test', randomBytes(32)]]) },
})
