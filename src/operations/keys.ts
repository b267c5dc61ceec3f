/**
 * Issues access keys. A key is shown once, when it is issued; afterwards only its keyed hash exists.
 * A person has at most two living keys, so that one can be replaced without an interruption.
 */
import { randomBytes, randomUUID } from 'node:crypto'
import { composeKey, maskKey } from '../domain/people/access-key.ts'
import type { Transaction } from '../storage/database/sql.ts'
import { insertKey, lockHolder } from '../storage/people/keys.ts'
import { type Refused, refuse } from './context.ts'
import { hashKey, type Secrets } from './secrets.ts'

const liveKeysMax = 2

export interface KeyOrder {
  personId: number
  /** Lower-case letters; keys of another environment are not even looked up. */
  keyEnvironment: string
  comment?: string
  /** Business times in epoch milliseconds. */
  expiresAt: number
  now: number
  /** Own rate windows, seconds to calls, instead of the platform's. */
  limits?: Record<string, number>
  /** A key in the form of older programs; only hosts of the compat dialect take it. */
  form?: 'uuid'
}

export interface IssuedKey {
  key: string
  keyId: string
  id: number
}

/** Makes a key. Refuses: NotFound (no living person), StateConflict (two keys live already). */
export async function issueKey(
  tx: Transaction,
  secrets: Secrets,
  order: KeyOrder,
): Promise<IssuedKey | Refused> {
  const holder = await lockHolder(tx, order.personId, order.now)
  if (holder === undefined) return refuse('NotFound', 'PersonId')
  if (holder.liveKeys >= liveKeysMax)
    return refuse('StateConflict', 'PersonId', `A person has at most ${liveKeysMax} living keys`)
  const made = composeKey(order.keyEnvironment, { keyId: randomBytes(8), secret: randomBytes(32) })
  const { keyId } = made
  const key = order.form === 'uuid' ? randomUUID() : made.key
  const id = await insertKey(tx, {
    personId: order.personId,
    keyId,
    hash: hashKey(secrets, key),
    masked: maskKey(key),
    comment: order.comment ?? '',
    limits: order.limits,
    createdAt: order.now,
    expiresAt: order.expiresAt,
  })
  return { key, keyId, id }
}
