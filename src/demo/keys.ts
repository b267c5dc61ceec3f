/** Access keys of the demo's people. A key is known at its making only, so lost ones are replaced, not found. */
import { isRefused } from '../operations/context.ts'
import { issueKey } from '../operations/keys.ts'
import type { Secrets } from '../operations/secrets.ts'
import type { Database } from '../storage/database/database.ts'
import { deleteKey, listLivingKeys } from '../storage/people/keys.ts'
import type { DemoKey } from './facts.ts'

const lifetime = 365 * 86_400_000

export interface KeyOptions {
  readonly db: Database
  readonly secrets: Secrets
  /** Environment of the keys, lower-case letters. */
  readonly keyEnvironment: string
  readonly now: number
}

/** Issues a key to each; the keys they had end. */
export async function issueDemoKeys(
  { db, secrets, keyEnvironment, now }: KeyOptions,
  holders: readonly Omit<DemoKey, 'key'>[],
): Promise<DemoKey[]> {
  const keys: DemoKey[] = []
  for (const holder of holders) {
    const { personId } = holder
    for (const { keyId } of await listLivingKeys(db.read, personId, now))
      await deleteKey(db.write, keyId, now)
    const order = { personId, keyEnvironment, comment: 'demo', expiresAt: now + lifetime, now }
    const issued = await db.transaction((tx) => issueKey(tx, secrets, order))
    if (isRefused(issued)) throw new Error(`no key for person ${personId}: ${issued.refused}`)
    const { name, role, ...more } = holder
    keys.push({ name, role, key: issued.key, ...more })
  }
  return keys
}
