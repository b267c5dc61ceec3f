/** A key ring for platforms under test. */
import { randomBytes } from 'node:crypto'
import type { KeyRing } from '../../src/storage/vault.ts'

export const testKeyRing: KeyRing = { current: 'test', keys: new Map([['test', randomBytes(32)]]) }
