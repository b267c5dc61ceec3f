/**
 * Who may be spoken for at Alpaca: a client per account, made of what its owner entrusted, made anew when that
 * changes, and used only once Alpaca has said that the key belongs to this very account. Secrets are opened here,
 * live in the client and are never written anywhere.
 */

import type { KeyRing } from '../../../storage/database/vault.ts'
import { type EntrustedAccount, loadEntrusted } from '../../../storage/people/credentials.ts'
import { insertIncidents } from '../../../storage/work/incidents.ts'
import type { WorkContext } from '../../context.ts'
import { atMost } from '../../leases.ts'
import type { Client, KeyPair, Outcome } from './client.ts'
import { readAccount } from './wire.ts'

/** An account whose client is known to speak for it. */
export interface Session {
  readonly accountId: number
  readonly brokerId: number
  readonly client: Client
}

/** Why an account cannot be spoken for: for good (`refused`), or not now. */
export type NoSession =
  | { readonly refused: string }
  | { readonly refused: string; readonly revoked: { readonly brokerId: number; readonly accountId: number } }
  | { readonly outcome: 'unsent' | 'unknown' }

/** Whether the account can be spoken for. */
export const isSession = (session: Session | NoSession): session is Session => 'client' in session

export interface Sessions {
  /** The session of each of these accounts, as soon as it is known: whoever has a good key waits for no other. */
  of(ctx: WorkContext, accountIds: readonly number[]): Promise<Promise<Session | NoSession>[]>
}

/** Orders wait this long for a key that is being proven; what was not sent, or not asked for it, is tried again. */
const sessionMs = 1_000

/** A session that is there soon; undefined where its key takes longer to prove. */
export const soon = (
  coming: Promise<Session | NoSession> | undefined,
): Promise<Session | NoSession | undefined> => atMost(sessionMs, Promise.resolve(coming))

interface Kept {
  /** User name and version of the password that the client was made of. */
  readonly made: string
  readonly client: Client
  isProven: boolean
  /** While Alpaca is asked whose key it is: everybody waits for the same answer. */
  proof?: Promise<NoSession | undefined>
  /** Alpaca's word that it cannot be used, and until when that is not asked again, on the steady clock. */
  refused?: { readonly session: NoSession; readonly until: number }
}

/** Everybody who looks for a session would ask for a key that is refused, every second. */
const refusalMs = 20_000

const noCredentials: NoSession = { refused: 'the account has no key for Alpaca' }

/** Builds the sessions; `connect` makes a client of a key pair. */
export function createSessions(keyRing: KeyRing, connect: (keys: KeyPair) => Client): Sessions {
  const kept = new Map<number, Kept>()

  const clientOf = (account: EntrustedAccount): Kept => {
    const made = `${account.userName} ${account.version}`
    const known = kept.get(account.id)
    if (known?.made === made) return known
    const client = connect({ keyId: account.userName, secret: account.open(keyRing) })
    const fresh = { made, client, isProven: false }
    kept.set(account.id, fresh)
    return fresh
  }

  const sessionOf = async (ctx: WorkContext, account: EntrustedAccount): Promise<Session | NoSession> => {
    let one: Kept
    try {
      one = clientOf(account)
    } catch (error) {
      ctx.log.error({ error, accountId: account.id }, 'a credential does not open')
      return { refused: 'the credentials of the account do not open' }
    }
    const doubt = one.isProven ? undefined : await doubtOf(ctx, account, one)
    return doubt ?? { accountId: account.id, brokerId: account.brokerId, client: one.client }
  }

  return {
    of: async (ctx, accountIds) => {
      const entrusted = new Map((await loadEntrusted(ctx.db.read, accountIds)).map((one) => [one.id, one]))
      return accountIds.map((id) => {
        const account = entrusted.get(id)
        return account ? sessionOf(ctx, account) : Promise.resolve(noCredentials)
      })
    },
  }
}

/** Has the key proven; what speaks against it, if anything. */
function doubtOf(ctx: WorkContext, account: EntrustedAccount, one: Kept): Promise<NoSession | undefined> {
  if (one.refused && performance.now() < one.refused.until) return Promise.resolve(one.refused.session)
  const ask = async (): Promise<NoSession | undefined> => {
    try {
      const doubt = await prove(ctx, account, await one.client.account())
      if (doubt && 'refused' in doubt) one.refused = { session: doubt, until: performance.now() + refusalMs }
      one.isProven = !doubt
      return doubt
    } catch (error) {
      // Nobody may be waiting for it any more.
      ctx.log.warn({ error, accountId: account.id }, 'a key could not be proven')
      return { outcome: 'unknown' }
    } finally {
      delete one.proof
    }
  }
  one.proof ??= ask()
  return one.proof
}

/** Holds Alpaca's word on whose key it is against the account; undefined when they agree. */
async function prove(
  ctx: WorkContext,
  account: EntrustedAccount,
  said: Outcome,
): Promise<NoSession | undefined> {
  if (isKeyRefused(said))
    return {
      refused: 'Alpaca refuses the key',
      revoked: { brokerId: account.brokerId, accountId: account.id },
    }
  if (said.outcome === 'refused') return { outcome: 'unknown' }
  if (said.outcome !== 'done') return { outcome: said.outcome }
  const theirs = readAccount(said.body)
  if (theirs?.number === account.account) return undefined
  if (!theirs) await raise(ctx, account.brokerId, account.id, 'MalformedAnswer', 'account')
  else await raise(ctx, account.brokerId, account.id, 'ForeignAccount', 'account')
  return theirs ? { refused: 'the key belongs to another account at Alpaca' } : { outcome: 'unknown' }
}

/** Whether Alpaca knows the key no longer. */
export const isKeyRefused = (said: Outcome): boolean =>
  said.outcome === 'refused' && (said.status === 401 || said.status === 403)

const minuteMs = 60_000

/** Tells the operator that something Alpaca said was not used, once a minute for each account and kind of answer. */
export const raise = (
  ctx: WorkContext,
  brokerId: number,
  accountId: number,
  kind: 'MalformedAnswer' | 'ForeignAccount',
  about: string,
): Promise<void> => {
  const now = ctx.clock.now()
  const key = `${kind}:${brokerId}:${accountId}:${about}:${Math.floor(now / minuteMs)}`
  return insertIncidents(ctx.db.write, [
    { key, kind, detail: { brokerId, accountId, about }, occurredAt: now },
  ])
}
