/**
 * Approvals that a site's admin gives to accounts: for Autotrade, or for broker transmit. An account that feeds a
 * strategy with its own trades is never mirrored into, so what is mirrored into must be stopped first.
 */

import type { ParamsOf } from '../../contract/index.ts'
import { isPlatformAdmin } from '../../domain/people/access.ts'
import { rowsOfSite } from '../../domain/people/scope.ts'
import {
  type ApprovedRow,
  approveAccount,
  type ConnectionType,
  findApproved,
  findMembership,
  isNumberOfSites,
  listApprovals,
  lockMirroredAccount,
  withdrawApproval,
} from '../../storage/accounts/approved-accounts.ts'
import { instant } from '../../storage/database/wire.ts'
import { findEnvironment } from '../../storage/operating/provision.ts'
import { type Context, type Outcome, type Refused, refuse } from '../context.ts'
import type { Handler } from '../handler.ts'
import { endSyncIn } from '../strategies/transmitters.ts'

const shownApproved = (row: ApprovedRow) => ({
  Id: row.id,
  Account: row.account,
  PersonId: row.personId,
  BrokerId: row.brokerId,
  WhiteLabelSiteId: row.whiteLabelSiteId,
  GeoSite: row.geoSite,
  IsCFD: row.isCfd,
  IsDeleted: row.isDeleted,
})

type Shown = ReturnType<typeof shownApproved>

const sitesOf = (ctx: Context, params: ParamsOf<'DeleteApprovedAutotradeAccount'>) => ({
  scope: rowsOfSite(ctx.caller),
  siteId: params.WhiteLabelSiteId,
  geoSite: params.GeoSite,
})

async function approve(
  ctx: Context,
  connectionType: ConnectionType,
  params: ParamsOf<'ApprovedAutotradeAccount'>,
): Promise<Outcome<Shown>> {
  const { Account: account, PersonId: personId, BrokerId: brokerId } = params
  const isMember = await findMembership(ctx.sql, personId, sitesOf(ctx, params))
  if (isMember === undefined) return refuse('NotFound', 'PersonId')
  if (!isMember)
    return refuse(
      'BadCombination',
      params.WhiteLabelSiteId === undefined ? 'GeoSite' : 'WhiteLabelSiteId',
      'The person is no member of the site',
    )
  if ((await findEnvironment(ctx.sql, brokerId)) === undefined) return refuse('NotFound', 'BrokerId')
  const found = await lockMirroredAccount(ctx.sql, brokerId, account)
  if (found && found.personId !== Number(personId)) return refuseTaken(ctx, found.personId)
  if (found && connectionType === 1) {
    if (found.isMirrored)
      return refuse('StateConflict', 'Account', 'Stop what is autotraded in the account first')
    await endSyncIn(ctx, found.id)
  }
  const approval = { connectionType, personId, brokerId, account, isCfd: params.IsCFD ?? false }
  const given = { addedBy: ctx.caller.personId, addedAt: instant(ctx.now) }
  const row = await approveAccount(ctx.sql, { ...approval, ...given }, found !== undefined)
  if (row) return { results: [shownApproved(row)] }
  return refuseTaken(ctx, await findApproved(ctx.sql, approval))
}

/** A number of somebody else: a conflict to who may know of him, otherwise no business of the caller's. */
async function refuseTaken(ctx: Context, personId: number | undefined): Promise<Refused> {
  const own = { scope: rowsOfSite(ctx.caller) }
  const isTold = personId === undefined || (await findMembership(ctx.sql, personId, own))
  return isTold
    ? refuse('StateConflict', 'PersonId', 'The account belongs to somebody else')
    : refuse('Forbidden', 'Account')
}

/** To an admin of a site an account of others is like one that does not exist. */
async function refuseAbsent(
  ctx: Context,
  { Account: account, PersonId: personId }: ParamsOf<'DeleteApprovedAutotradeAccount'>,
): Promise<Refused> {
  const own = { scope: rowsOfSite(ctx.caller) }
  const isTold =
    isPlatformAdmin(ctx.caller) || personId !== undefined || (await isNumberOfSites(ctx.sql, account, own))
  return refuse(isTold ? 'NotFound' : 'Forbidden', 'Account')
}

async function withdraw(
  ctx: Context,
  connectionType: ConnectionType,
  params: ParamsOf<'DeleteApprovedAutotradeAccount'>,
): Promise<Outcome<Shown>> {
  const { Account: account, PersonId: personId, BrokerId: brokerId } = params
  const asked = { connectionType, account, personId, brokerId }
  const [row, second] = await listApprovals(ctx.sql, asked, sitesOf(ctx, params))
  if (!row) return refuseAbsent(ctx, params)
  if (second) return refuse('BadCombination', 'BrokerId', 'Several brokers have an account of this number')
  await lockMirroredAccount(ctx.sql, row.brokerId, account)
  if (!(await withdrawApproval(ctx.sql, row, instant(ctx.now)))) return refuseAbsent(ctx, params)
  return { results: [shownApproved({ ...row, isDeleted: true })] }
}

/** Approves an account for autotrading. */
export const approvedAutotradeAccount: Handler<'ApprovedAutotradeAccount'> = (ctx, params) =>
  approve(ctx, 0, params)

/** Approves an account to feed a strategy with its own trades. */
export const approvedBrokerTransmitAccount: Handler<'ApprovedBrokerTransmitAccount'> = (ctx, params) =>
  approve(ctx, 1, params)

/** Takes the approval for autotrading back. */
export const deleteApprovedAutotradeAccount: Handler<'DeleteApprovedAutotradeAccount'> = (ctx, params) =>
  withdraw(ctx, 0, params)

/** Takes the approval to feed a strategy back. */
export const deleteApprovedBrokerTransmitAccount: Handler<'DeleteApprovedBrokerTransmitAccount'> = (
  ctx,
  params,
) => withdraw(ctx, 1, params)
