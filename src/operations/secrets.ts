/**
 * The secrets that the edge works with. They live in the process's memory alone, are read once at its start and
 * never reach the database, a log or an answer.
 */
import { createHmac, timingSafeEqual } from 'node:crypto'
import type { KeyRing } from '../storage/database/vault.ts'

export interface Secrets {
  /** Keys the hashes of access keys: a stolen table opens nothing without it. At least 32 bytes. */
  readonly pepper: Buffer
  /** Signs cursors, and the links of requests for approval. At least 32 bytes. */
  readonly cursor: Buffer
  /** Wraps the keys of what customers entrust: credentials for their brokers. */
  readonly keyRing: KeyRing
  /** Part of every password's hash. */
  readonly passwords: Buffer
  /** Wraps the keys of personal data at rest. 32 bytes. */
  readonly personalData: Buffer
}

/** The keyed hash under which an access key is stored. */
export const hashKey = (secrets: Secrets, key: string): Buffer =>
  createHmac('sha256', secrets.pepper).update('access key\0').update(key).digest()

/** A keyed hash of what a request asks for; keyed because a request may hold a password. */
export const fingerprintOf = (secrets: Secrets, text: string): Buffer =>
  createHmac('sha256', secrets.pepper).update('request\0').update(text).digest()

/** What an address must hold so that whoever has it may answer a request for approval. */
export const approvalToken = ({ cursor }: Secrets, requestId: string): string =>
  `${requestId}.${createHmac('sha256', cursor).update('approval\0').update(requestId).digest('base64url')}`

/** The request that a token is for; undefined when it is none of ours. */
export function approvalIdOf(secrets: Secrets, token: string): string | undefined {
  const [requestId = ''] = token.split('.')
  const expected = Buffer.from(approvalToken(secrets, requestId))
  const given = Buffer.from(token)
  return given.length === expected.length && timingSafeEqual(given, expected) ? requestId : undefined
}

/** The token of a link that confirms an address, made of its seed: what waits to be sent holds the seed alone. */
export const confirmationToken = (secrets: Pick<Secrets, 'pepper'>, seed: string): string =>
  createHmac('sha256', secrets.pepper).update('confirmation link\0').update(seed).digest('base64url')

/** The keyed hash under which a token that was handed out is stored; a token of one use is none of another. */
export const hashToken = (
  secrets: Secrets,
  use: 'user token' | 'confirmation' | 'csrf',
  token: string,
): Buffer => createHmac('sha256', secrets.pepper).update(`${use}\0`).update(token).digest()
