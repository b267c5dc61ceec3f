/** People as answers show them. */
import { permissions } from '../../domain/people/access.ts'
import type { PersonRow } from '../../storage/people/people.ts'
import { iconOf } from './icon.ts'

const sharedMembers = (row: PersonRow) => ({
  Id: row.id,
  Alias: row.alias,
  FirstName: row.firstName,
  LastName: row.lastName,
  Email: row.email,
  Phone: row.phone,
  Language: row.language,
  WhiteLabelSiteId: row.whiteLabelSiteId,
  CountryCode: row.countryCode,
  DivisionCode: row.divisionCode,
  Created: row.createdAt,
  LastLoggedIn: row.lastLoggedInAt,
  LastIP: row.lastIp,
  IsEmailValidated: row.isEmailValidated,
  IsAlive: row.isAlive,
  IsManager: row.isManager,
  IsInvestor: row.isInvestor,
  GeoSite: row.geoSite,
  IsGeoSiteAdmin: row.role === 'geosite_admin',
})

/** Everything of a person; `withIcon` adds the picture. */
export const shownPerson = (row: PersonRow, withIcon: boolean) => ({
  IsPhoneVerified: row.isPhoneVerified,
  ApprovedAccounts: row.approvedAccounts.map((approved) => ({
    PersonId: row.id,
    AddedDate: approved.addedAt,
    Account: approved.account,
    BrokerId: approved.brokerId,
    ConnectionType: approved.connectionType,
    AddedByPersonId: approved.addedByPersonId,
  })),
  SupportCompanyName: row.supportCompanyName,
  SupportSiteURL: row.supportSiteUrl,
  SupportEmail: row.supportEmail,
  Icon: withIcon ? (row.icon ?? iconOf(row.id, row.alias)) : null,
  ...sharedMembers(row),
})

/** A person as the lists of members show it. */
export function shownMember(row: PersonRow) {
  const isAdmin = row.role === 'whitelabel_admin'
  return {
    IsWhiteLabelSiteAdmin: isAdmin,
    WhiteLabelPermissions: isAdmin ? (row.permissions ?? permissions).join(',') : null,
    ...sharedMembers(row),
  }
}
