/**
 * People: added by the admins of their site, shown in public with a name and a face alone, and whole to
 * themselves and to the admins who may search them.
 */

import { randomBytes } from 'node:crypto'
import { isIP } from 'node:net'
import { type ParamsOf, publicView } from '../../contract/index.ts'
import { Person } from '../../contract/resources/person.ts'
import { refusedAtSite, refusedPassword } from '../../domain/people/password.ts'
import { rowsOfSite } from '../../domain/people/scope.ts'
import { isCountry, isDivision, isLanguage } from '../../services/iso-lists.ts'
import { HashingBusy } from '../../services/passwords.ts'
import { isInternationalPhone } from '../../services/phone.ts'
import { insertConfirmation } from '../../storage/people/email-confirmations.ts'
import { insertMail } from '../../storage/people/mail.ts'
import {
  findPerson,
  insertDashboardSession,
  insertProfile,
  isPhoneKnown,
  type PersonRow,
  pagePeople,
} from '../../storage/people/people.ts'
import { findSite, findSiteByCode, type SiteRow } from '../../storage/people/sites.ts'
import { type Context, isRefused, type Refused, refuse } from '../context.ts'
import type { Handler, PreparedHandler } from '../handler.ts'
import { paged } from '../paging.ts'
import { confirmationToken, hashToken } from '../secrets.ts'
import { shownPerson } from './people.ts'

type NewProfile = ParamsOf<'AddProfile'>

const newToken = (): string => randomBytes(32).toString('base64url')

/** What no single pattern can say of a new profile. */
function refusedProfile(params: NewProfile): Refused | undefined {
  if (!isLanguage(params.Language))
    return refuse('InvalidParameter', 'Language', 'Must be a code of ISO 639-3')
  if (!isCountry(params.CountryCode))
    return refuse('InvalidParameter', 'CountryCode', 'Must be a country code of ISO 3166')
  if (!isDivision(params.CountryCode, params.DivisionCode))
    return refuse('InvalidParameter', 'DivisionCode', 'Must be a subdivision of the country by ISO 3166-2')
  if (params.Phone !== undefined && !isInternationalPhone(params.Phone))
    return refuse('InvalidParameter', 'Phone', 'Must be a phone number in full international format')
  if (params.WhiteLabelSiteId !== undefined && isIP(params.IPAddress ?? '') === 0)
    return refuse('InvalidParameter', 'IPAddress', 'Must be an IP address')
  const weakness = refusedPassword(params.Password, {
    email: params.Email,
    names: [params.FirstName, params.LastName, params.ScreenName],
  })
  return weakness === undefined ? undefined : refuse('InvalidParameter', 'Password', weakness)
}

/** The site a new person belongs to: the one that is named, otherwise the caller's. */
async function siteOf(ctx: Context, params: NewProfile): Promise<SiteRow | Refused> {
  const { WhiteLabelSiteId: siteId, GeoSite: code } = params
  const region = code === undefined ? undefined : await findSiteByCode(ctx.sql, code)
  if (code !== undefined && region?.kind !== 'geo') return refuse('NotFound', 'GeoSite')
  const named = siteId === undefined ? region : await findSite(ctx.sql, siteId)
  const site = named ?? (siteId === undefined ? await findSite(ctx.sql, ctx.caller.siteId) : undefined)
  if (site === undefined) return refuse('NotFound', 'WhiteLabelSiteId')
  if (region !== undefined && site.id !== region.id && site.parentSiteId !== region.id)
    return refuse('BadCombination', 'GeoSite', 'The WhiteLabel site does not belong to this GeoSite')
  return site
}

export const addProfile: PreparedHandler<'AddProfile'> = {
  prepare: async (ctx, params) => {
    const refused = refusedProfile(params)
    if (refused) return refused
    return ctx.passwords.hash(params.Password).catch((error: unknown) => {
      if (error instanceof HashingBusy) return refuse('Overloaded')
      throw error
    })
  },
  run: async (ctx, params, passwordHash) => {
    const site = await siteOf(ctx, params)
    if (isRefused(site)) return site
    const weakness = refusedAtSite(params.Password, site)
    if (weakness !== undefined) return refuse('InvalidParameter', 'Password', weakness)
    const id = await insertProfile(ctx.sql, {
      siteId: site.id,
      alias: params.ScreenName,
      firstName: params.FirstName,
      lastName: params.LastName,
      email: params.Email,
      passwordHash,
      language: params.Language,
      countryCode: params.CountryCode,
      divisionCode: params.DivisionCode,
      city: params.City,
      street: params.Street,
      street2: params.Street2,
      zipCode: params.ZipCode,
      phone: params.Phone,
      company: params.Company,
      lastIp: params.WhiteLabelSiteId === undefined ? undefined : params.IPAddress,
      createdAt: ctx.now,
    })
    if (id === undefined)
      return refuse('StateConflict', 'Email', 'There is a profile with this e-mail address')
    await askToConfirm(ctx, { personId: id, email: params.Email, firstName: params.FirstName }, site.name)
    const csrf = newToken()
    const csrfHash = hashToken(ctx.secrets, 'csrf', csrf)
    await insertDashboardSession(ctx.sql, { personId: id, csrfHash, createdAt: ctx.now })
    return { results: [{ PersonId: id, CSRF: csrf }] }
  },
}

/** Writes the message with the link by which a person proves to own the address. */
async function askToConfirm(
  ctx: Context,
  { personId, email, firstName }: { personId: number; email: string; firstName: string },
  siteName: string,
): Promise<void> {
  const seed = newToken()
  const token = confirmationToken(ctx.secrets, seed)
  await insertConfirmation(ctx.sql, {
    personId,
    email,
    tokenHash: hashToken(ctx.secrets, 'confirmation', token),
    createdAt: ctx.now,
  })
  await insertMail(
    ctx.sql,
    { kind: 'confirm-email', address: email, facts: { firstName, siteName, seed } },
    ctx.now,
  )
}

/** One person: all of himself, of another what everybody may see. */
export const getProfile: Handler<'GetProfile'> = async (ctx, params) => {
  const row = await findPerson(ctx.sql, params.PersonId ?? ctx.caller.personId)
  if (row === undefined) return refuse('NotFound', 'PersonId')
  const person = shownPerson(row, params.IncludeIconInResponse === true)
  return { results: [row.id === ctx.caller.personId ? person : publicView(Person, person)] }
}

/** People of the caller's sites. */
export const searchProfiles: Handler<'SearchProfiles'> = (ctx, params) => {
  const filter = {
    personId: params.PersonId,
    firstName: params.FirstName,
    lastName: params.LastName,
    email: params.Email,
    whiteLabelSiteId: params.WhiteLabelSiteId,
    countryCode: params.CountryCode,
    divisionCode: params.DivisionCode,
    ipAddress: params.IPAddress,
    phone: params.Phone,
    isAlive: params.IsAlive,
    isEmailValidated: params.IsEmailValidated,
  }
  return paged(
    ctx,
    'SearchProfiles',
    params,
    (row: PersonRow) => shownPerson(row, params.IncludeIconInResponse === true),
    (request) => pagePeople(ctx.sql, filter, rowsOfSite(ctx.caller), request),
  )
}

/** Whether somebody has the number. */
export const getPhoneAlreadyExists: Handler<'GetPhoneAlreadyExists'> = async (ctx, { Phone }) => {
  if (!isInternationalPhone(Phone))
    return refuse('MalformedValue', 'Phone', 'Must be a phone number in full international format')
  return { results: [await isPhoneKnown(ctx.sql, Phone)] }
}
