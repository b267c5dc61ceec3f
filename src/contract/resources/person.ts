/**
 * People, their keys and the sites they belong to. Public members of a person are Id, Alias, IsManager,
 * IsInvestor and Icon; all others are personal.
 */
import { array, Bool, Dt, I64, i32, LongStr, maybe, object, on, personal, Str } from '../schema.ts'

/** ConnectionType: 0 autotrade, 1 broker transmit. */
const PersonApprovedAccount = object({
  PersonId: I64,
  AddedDate: Dt,
  Account: Str,
  BrokerId: i32(),
  ConnectionType: i32(),
  AddedByPersonId: I64,
})

export const Person = object({
  Id: I64,
  Alias: maybe(Str),
  FirstName: personal(Str),
  LastName: personal(Str),
  Email: personal(Str),
  Phone: personal(Str),
  IsPhoneVerified: personal(Bool),
  Language: personal(Str),
  WhiteLabelSiteId: personal(I64),
  CountryCode: personal(Str),
  DivisionCode: personal(Str),
  Created: personal(Dt),
  LastLoggedIn: personal(Dt),
  LastIP: personal(Str),
  IsEmailValidated: personal(Bool),
  IsAlive: personal(Bool),
  ApprovedAccounts: personal(array(PersonApprovedAccount)),
  IsManager: Bool,
  IsInvestor: Bool,
  GeoSite: personal(Str),
  IsGeoSiteAdmin: personal(Bool),
  SupportCompanyName: personal(Str),
  SupportSiteURL: personal(LongStr),
  SupportEmail: personal(Str),
  Icon: on(['Geo', 'WL'], maybe(LongStr)),
})

/** A member of a GeoSite or WhiteLabel site, as its admin sees it. */
export const SiteMember = object({
  Id: I64,
  Alias: maybe(Str),
  FirstName: Str,
  LastName: Str,
  Email: Str,
  Phone: maybe(Str),
  Language: maybe(Str),
  IsWhiteLabelSiteAdmin: Bool,
  WhiteLabelSiteId: maybe(I64),
  WhiteLabelPermissions: maybe(Str),
  CountryCode: maybe(Str),
  DivisionCode: maybe(Str),
  Created: Dt,
  LastLoggedIn: maybe(Dt),
  LastIP: maybe(Str),
  IsEmailValidated: Bool,
  IsAlive: Bool,
  IsManager: Bool,
  IsInvestor: Bool,
  GeoSite: maybe(Str),
  IsGeoSiteAdmin: Bool,
})

export const AddPersonResponse = object({ PersonId: I64, CSRF: Str })

/** AccessKey is masked: prefix and last four characters. */
export const AccessKey = object({
  Id: I64,
  AccessKey: Str,
  PersonId: I64,
  FirstName: Str,
  LastName: Str,
  Email: Str,
  WhiteLabelSiteId: maybe(I64),
  GeoSiteId: on(['Geo'], maybe(Str)),
  Role: Str,
  Message: maybe(LongStr),
  CreateDate: Dt,
  DeleteDate: maybe(Dt),
  Comment: maybe(LongStr),
})

/** `GeoSIteId` is spelled so on the wire. */
export const GeoSite = object({ Id: I64, GeoSIteId: Str, Domain: Str })

export const KYCScore = object({
  Id: I64,
  PersonId: I64,
  Created: maybe(Dt),
  Approved: maybe(Dt),
  Started: maybe(Dt),
  Finished: maybe(Dt),
  RedirectedToKYCTimes: i32(),
  Score: maybe(I64),
})

export const KYCInfo = object({
  Id: I64,
  PersonId: I64,
  FirstName: Str,
  LastName: Str,
  Email: Str,
  Phone: Str,
  IsPhoneVerified: Bool,
  Street: Str,
  City: Str,
  Province: Str,
  PostCode: Str,
  Country: Str,
  PhotoId1: maybe(LongStr),
  PhotoId1Title: maybe(Str),
  PhotoId2: maybe(LongStr),
  PhotoId2Title: maybe(Str),
  WhiteLabelSiteId: maybe(I64),
  GeoSite: maybe(Str),
  SiteURL: maybe(LongStr),
})
