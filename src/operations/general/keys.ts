/** The caller's own key, and the operation that exists to try one. */
import { findKeyRecord } from '../../storage/people/keys.ts'
import { refuse } from '../context.ts'
import type { Handler } from '../handler.ts'

/** Greets; a caller sees that his key works. */
export const hello: Handler<'Hello'> = async (_ctx, { Name }) => ({ results: [`Hello, ${Name ?? ''}!`] })

/** The caller's own key, masked, and whose it is. */
export const getAccessKey: Handler<'GetAccessKey'> = async (ctx) => {
  const row = await findKeyRecord(ctx.sql, ctx.caller.accessKeyId)
  if (!row) return refuse('NotFound')
  return {
    results: [
      {
        Id: row.id,
        AccessKey: row.masked,
        PersonId: row.personId,
        FirstName: row.firstName,
        LastName: row.lastName,
        Email: row.email,
        WhiteLabelSiteId: row.siteKind === 'whitelabel' ? row.siteId : null,
        GeoSiteId: row.siteKind === 'geo' ? row.siteCode : row.parentCode,
        Role: row.role,
        CreateDate: row.createdAt,
        DeleteDate: row.deletedAt ?? row.expiresAt,
        Comment: row.comment === '' ? null : row.comment,
      },
    ],
  }
}
