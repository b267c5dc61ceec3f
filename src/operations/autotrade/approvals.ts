/**
 * Requests for a customer's approval. A start on the white-label host writes one and takes effect when its account's
 * holder agrees, on the page that the request's address leads to. Whatever comes later for the same account and
 * strategy takes the place of an open request.
 */
import { randomUUID } from 'node:crypto'
import { readsPerson } from '../../domain/people/access.ts'
import { approvalAt, approvalLife } from '../../domain/people/approval.ts'
import type { AccountRow } from '../../storage/accounts/accounts.ts'
import {
  type ApprovalChoices,
  type ApprovalRow,
  findApproval,
  findOpenApproval,
  insertApproval,
  type NewApproval,
} from '../../storage/mirror/approvals.ts'
import { refuseAbsent } from '../access.ts'
import { type Context, type Outcome, refuse } from '../context.ts'
import type { Handler } from '../handler.ts'
import { approvalToken } from '../secrets.ts'

interface Asked {
  readonly account: AccountRow
  readonly strategyId: number | bigint
}

/** Names a request to the caller, whose answer is a bare boolean. Only the white-label host tells of requests. */
const naming = ({ host }: Context, id: string): Record<string, string> => ({
  'x-approval-request-id': id,
  ...(host === 'WL' && { location: `GetAutotradeApprovalStatus?RequestId=${id}` }),
})

/** Writes a request, and names it to the caller. */
async function enter(
  ctx: Context,
  { account, strategyId }: Asked,
  request: Pick<NewApproval, 'action' | 'status' | 'expiresAt' | 'choices'>,
): Promise<Record<string, string>> {
  const id = randomUUID()
  await insertApproval(ctx.sql, { ...request, id, accountId: account.id, strategyId, createdAt: ctx.now })
  return naming(ctx, id)
}

/** Asks the account's holder. */
export async function askCustomer(
  ctx: Context,
  asked: Asked,
  choices: ApprovalChoices,
): Promise<Outcome<boolean>> {
  const expiresAt = ctx.now + approvalLife
  const headers = await enter(ctx, asked, { action: 'start', status: 'PendingCustomer', expiresAt, choices })
  return { bare: true, headers }
}

/**
 * Writes what took effect without asking as a request of its own: a stop on the white-label host, and whatever
 * takes the place of an open request. Answers the headers that name it, or nothing where none was written.
 */
export async function settleApproval(
  ctx: Context,
  asked: Asked,
  action: 'start' | 'stop',
  stoppedSetup?: number,
): Promise<Record<string, string> | undefined> {
  const isWritten = ctx.host === 'WL' && action === 'stop' && stoppedSetup !== undefined
  if (!isWritten && !(await findOpenApproval(ctx.sql, asked.account.id, asked.strategyId, ctx.now)))
    return undefined
  return enter(ctx, asked, { action, status: 'Completed', expiresAt: ctx.now, choices: {} })
}

function shownApproval(ctx: Context, row: ApprovalRow) {
  const status = approvalAt(row, ctx.now)
  const token = approvalToken(ctx.secrets, row.id)
  return {
    RequestId: row.id,
    Status: status,
    ApprovalUrl: status === 'PendingCustomer' ? `${ctx.origin}/approvals/${token}` : null,
    CreatedUtc: row.createdAt,
    ExpiresUtc: row.expiresAt,
    CompletedUtc: status === 'Completed' ? row.endedAt : null,
    PersonId: row.personId,
    StrategyId: row.strategyId,
    SupersededByRequestId: row.supersededBy,
  }
}

/** A request is seen by its person and the admins of the person's site; others learn nothing of it. */
export const getAutotradeApprovalStatus: Handler<'GetAutotradeApprovalStatus'> = async (ctx, params) => {
  const row = await findApproval(ctx.sql, params.RequestId)
  if (!row) return refuseAbsent(ctx.caller, 'RequestId')
  if (!readsPerson(ctx.caller, row)) return refuse('Forbidden', 'RequestId')
  return { results: [shownApproval(ctx, row)] }
}
