/**
 * KYC: who a person is, sealed; how the check went, in the open; and a record of everybody who looked. Both kinds
 * of sites name a person by the secret user token, white-label sites also by id.
 */
import type { OperationName, ParamsOf } from '../../contract/index.ts'
import { standingAfter } from '../../domain/people/kyc.ts'
import { isInternationalPhone } from '../../services/phone.ts'
import { insertAuditNotes } from '../../storage/database/audit-log.ts'
import {
  findInfo,
  findKyc,
  type InfoRow,
  type KycRow,
  lockKyc,
  replaceInfo,
  updateKyc,
  verifyPhone,
} from '../../storage/people/kyc.ts'
import { actingOf } from '../acting.ts'
import { type Context, isRefused, type Refused, refuse } from '../context.ts'
import type { Handler, RecordedHandler } from '../handler.ts'
import { hashUserToken } from '../user-tokens.ts'
import { readPhotos } from './photos.ts'
import { openInfo, sealInfo } from './sealed-info.ts'

const shownScore = (row: KycRow) => ({
  Id: row.id,
  PersonId: row.personId,
  Created: row.createdAt,
  Approved: row.approvedAt,
  Started: row.startedAt,
  Finished: row.finishedAt,
  RedirectedToKYCTimes: row.redirectedTimes,
  Score: row.score,
})

/** Enters in the transaction of the answer who saw what is known of whom. */
const note = (ctx: Context, operation: OperationName, personId: number): Promise<void> =>
  insertAuditNotes(ctx.sql, [{ object: `person ${personId}`, ...actingOf({ operation, ...ctx }, ctx.now) }])

/** Each kind of site has its own way to name a person. */
function unnamed({ caller }: Context, params: ParamsOf<'GetKYCScore'>): Refused | undefined {
  if (caller.role === 'geosite_admin' && params.UserToken === undefined)
    return refuse('MissingValue', 'UserToken')
  if (caller.role === 'whitelabel_admin' && params.PersonId === undefined)
    return refuse('MissingValue', 'PersonId')
  return undefined
}

export const getKycScore: RecordedHandler<'GetKYCScore'> = {
  recorded: async (ctx, params) => {
    const refused = unnamed(ctx, params)
    if (refused) return refused
    const { UserToken: token, PersonId: personId } = params
    const tokenHash = token === undefined ? undefined : hashUserToken(ctx.secrets, token)
    const row = await findKyc(ctx.sql, { tokenHash, personId })
    if (row === undefined && tokenHash !== undefined)
      return refuse('BadCombination', 'PersonId', 'UserToken and PersonId name two people')
    if (row === undefined) return refuse('NotFound', 'PersonId', 'The person was never sent to KYC')
    await note(ctx, 'GetKYCScore', row.personId)
    return { results: [shownScore(row)] }
  },
}

/** Notes what the checking service has found of a person, whom it knows by the token. */
export const updateKycScore: Handler<'UpdateKYCScore'> = async (ctx, params) => {
  const row = await lockKyc(ctx.sql, hashUserToken(ctx.secrets, params.UserToken))
  if (row === undefined) return refuse('NotFound', 'UserToken')
  const report = { isFinished: params.IsFinished, isApproved: params.IsApproved, score: params.Score }
  const changed = await updateKyc(ctx.sql, row.id, standingAfter(row, report, ctx.now))
  return { results: [shownScore(changed)] }
}

/** Keeps what a person has told of himself, sealed; what was told before is replaced. */
export const addKycInfo: Handler<'AddKYCInfo'> = async (ctx, params) => {
  const photos = readPhotos(params)
  if (isRefused(photos)) return photos
  const isVerified = params.IsPhoneVerified === true
  if (isVerified && !isInternationalPhone(params.Phone))
    return refuse('InvalidParameter', 'Phone', 'A verified number is in full international format')
  const row = await lockKyc(ctx.sql, hashUserToken(ctx.secrets, params.UserToken))
  if (row === undefined) return refuse('NotFound', 'UserToken')
  const { UserToken: _token, PhotoId1: _one, PhotoId2: _two, ...fields } = params
  const sealed = sealInfo(ctx.secrets.personalData, row.personId, { fields, photos })
  await replaceInfo(ctx.sql, row.personId, sealed, ctx.now)
  if (isVerified) await verifyPhone(ctx.sql, row.personId, params.Phone)
  const changed = await updateKyc(ctx.sql, row.id, standingAfter(row, {}, ctx.now))
  return { results: [shownScore(changed)] }
}

export const getKycInfo: RecordedHandler<'GetKYCInfo'> = {
  recorded: async (ctx, params) => {
    const row = await findKyc(ctx.sql, { tokenHash: hashUserToken(ctx.secrets, params.UserToken) })
    const info = row && (await findInfo(ctx.sql, row.personId))
    if (!row || !info) return refuse('NotFound', 'UserToken', 'There is no KYC data of this person')
    await note(ctx, 'GetKYCInfo', row.personId)
    return { results: [shownInfo(ctx, row.personId, info)] }
  },
}

function shownInfo(ctx: Context, personId: number, info: InfoRow) {
  const { fields, photos } = openInfo(ctx.secrets.personalData, personId, info)
  return {
    Id: info.id,
    PersonId: personId,
    ...fields,
    IsPhoneVerified: fields.IsPhoneVerified ?? false,
    PhotoId1: photos[0]?.toString('base64'),
    PhotoId2: photos[1]?.toString('base64'),
    WhiteLabelSiteId: info.siteKind === 'whitelabel' ? info.siteId : null,
    GeoSite: info.geoSite,
    SiteURL: info.siteUrl,
  }
}
