/**
 * What an account's state at Alpaca means for Autotrade: an account that is blocked or not active is restricted, a
 * closed one, or one whose key is refused twice in a row, is no longer ours. Told once a day, so that whoever switches
 * Autotrade on again although nothing has changed is told again.
 */
import { dayIn, type Instant, newYork } from '../../../domain/time.ts'
import { insertReports } from '../../../storage/brokers/report-intake.ts'
import type { ReportKind } from '../../../storage/brokers/reports.ts'
import type { WorkContext } from '../../context.ts'
import type { AlpacaAccount } from './wire.ts'

interface Named {
  readonly brokerId: number
  readonly accountId: number
}

export interface Notices {
  ofAccount(ctx: WorkContext, named: Named, account: AlpacaAccount): Promise<void>
  /** The key was refused. */
  ofKey(ctx: WorkContext, named: Named): Promise<void>
}

/** What several ask at once is one refusal. */
const sameRefusalMs = 30_000

/**
 * Tells once a New York day that an account is closed, restricted or blocked, or that its key is refused the
 * second time.
 */
export function createNotices(): Notices {
  const refusedAt = new Map<number, Instant>()
  const tell = (ctx: WorkContext, named: Named, kind: ReportKind, text: string): Promise<void> => {
    const now = ctx.clock.now()
    const reportKey = `${kind}:${text}:${dayIn(now, newYork)}`
    const { brokerId, accountId } = named
    return insertReports(ctx.db.write, [
      { brokerId, accountId, reportKey, kind, text, clientOrderId: null, symbol: '', occurredAt: now },
    ])
  }
  return {
    ofAccount: async (ctx, named, { status, isBlocked }) => {
      refusedAt.delete(named.accountId)
      if (status === 'ACCOUNT_CLOSED') await tell(ctx, named, 'delink', 'the account is closed at Alpaca')
      else if (status !== 'ACTIVE')
        await tell(ctx, named, 'restriction', `the account is ${status} at Alpaca`)
      else if (isBlocked) await tell(ctx, named, 'restriction', 'the account is blocked at Alpaca')
    },
    ofKey: async (ctx, named) => {
      const now = ctx.clock.now()
      const first = refusedAt.get(named.accountId)
      if (first === undefined) refusedAt.set(named.accountId, now)
      else if (now - first >= sameRefusalMs) await tell(ctx, named, 'delink', 'Alpaca refuses the key')
    },
  }
}
