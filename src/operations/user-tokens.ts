/** User tokens: secrets that name a person to a KYC process. One per person; a new one ends the one before. */
import { randomBytes } from 'node:crypto'
import type { Sql } from '../storage/database/sql.ts'
import { replaceToken } from '../storage/people/kyc.ts'
import { type Refused, refuse } from './context.ts'
import { hashToken, type Secrets } from './secrets.ts'

/** By what a token is known: only its hash is kept. */
export const hashUserToken = (secrets: Secrets, token: string): Buffer =>
  hashToken(secrets, 'user token', token)

/** Sends a person to KYC; the token is shown once. Refuses: NotFound (no such person). */
export async function issueUserToken(
  sql: Sql,
  secrets: Secrets,
  personId: number,
  now: number,
): Promise<string | Refused> {
  const token = randomBytes(32).toString('base64url')
  const tokenHash = hashUserToken(secrets, token)
  const isKnown = await replaceToken(sql, { personId, tokenHash, now })
  return isKnown ? token : refuse('NotFound', 'PersonId')
}
