/** The General group: the caller's key, people, subscriptions, sites, KYC. */
import { emailForm } from '../domain/people/email.ts'
import { atLeastOne, byHost, neededWhen } from './needs.ts'
import {
  AccessKey,
  AddPersonResponse,
  GeoSite,
  KYCInfo,
  KYCScore,
  Person,
  SiteMember,
} from './resources/person.ts'
import { WlInstrumentationExport } from './resources/site.ts'
import { SubscribedStrategy, Subscription } from './resources/subscription.ts'
import { get, page, post, put } from './row.ts'
import {
  Bool,
  hostNames,
  I64,
  i64,
  LongStr,
  maybe,
  on,
  optional,
  Str,
  secret,
  text,
  withDefault,
} from './schema.ts'

const bothKinds = ['geo', 'whitelabel'] as const
const kycAdmin = { rule: 'siteAdmin', kinds: bothKinds, userToken: 'UserToken', permission: 'kyc' } as const
/** A host asks for what the admins of its own sites have to give. */
const kycPersonNamed = byHost(atLeastOne('UserToken', 'PersonId'), {
  WL: atLeastOne('PersonId', 'UserToken'),
})
const reader = { rule: 'personReader', person: 'PersonId' } as const

const ActiveOnly = withDefault(Bool, true)
const IncludeIconInResponse = on(['Geo', 'WL'], optional(Bool))
const Email = text(254, emailForm, 'ann@example.com')
/** A plus sign, the country code, no zero after it. */
const Phone = text(16, /^\+[1-9][0-9]{4,14}$/, '+12125550123')
/** A whole PNG of one pixel: what is shown as an example is taken. */
const onePixel =
  'iVBORw0KGgoAAAANSUhEUgAAAAEAAAABCAAAAAA6fptVAAAACklEQVR4nGNgAAAAAgABSK+kcQAAAABJRU5ErkJggg=='
/** Base64, with or without the beginning of a `data:` address. */
const Photo = text(8 * 1024 * 1024, /^(?:data:image\/[a-z]+;base64,)?[A-Za-z0-9+/]+={0,2}$/, onePixel)
/** Text that says something: at least one character that is not blank. */
const Words = text(256, /\S/)
const exportLimit = (value: number) => withDefault(i64({ min: 1, clamp: 5000 }), value)
const mebibyte = 1024 * 1024

export const general = {
  Hello: post({
    says: 'Answers `Hello, <Name>!`: a test of the key, the rate limits and the headers.',
    hosts: hostNames,
    params: { Name: maybe(LongStr) },
    result: LongStr,
    access: { rule: 'anyKey' },
  }),
  GetAccessKey: get({
    says: "Shows the record of the caller's own key.",
    hosts: hostNames,
    params: {},
    result: AccessKey,
    access: { rule: 'anyKey' },
  }),
  AddProfile: post({
    says: 'Creates a person at the site of the key.',
    hosts: ['Geo', 'WL'],
    params: {
      FirstName: Words,
      LastName: Words,
      ScreenName: Words,
      Email,
      Password: secret(text(128, /^[\s\S]{8,}$/, 'at least eight characters')),
      Language: text(3, /^[a-z]{3}$/, 'eng'),
      CountryCode: text(2, /^[A-Z]{2}$/, 'US'),
      DivisionCode: text(6, /^([A-Z]{2}-)?[A-Z0-9]{1,3}$/, 'US-NY'),
      City: maybe(Str),
      Street: maybe(Str),
      Street2: maybe(Str),
      ZipCode: maybe(Str),
      Phone: maybe(Phone),
      Company: maybe(Str),
      WhiteLabelSiteId: maybe(I64),
      GeoSite: maybe(Str),
      IPAddress: maybe(Str),
    },
    needs: [
      neededWhen(
        'IPAddress',
        'with WhiteLabelSiteId',
        ({ WhiteLabelSiteId }) => WhiteLabelSiteId !== undefined,
      ),
    ],
    result: AddPersonResponse,
    access: {
      rule: 'siteAdmin',
      kinds: bothKinds,
      site: 'WhiteLabelSiteId',
      geoSite: 'GeoSite',
      permission: 'members',
    },
  }),
  UpdateProfile: put({
    says: 'Unavailable: the profile is changed in the dashboard.',
    hosts: hostNames,
    params: { PersonId: maybe(I64) },
    result: AddPersonResponse,
    access: { rule: 'person', person: 'PersonId' },
    unavailable: true,
  }),
  GetProfile: get({
    says: 'Shows a person: all to the person, the public members to others.',
    hosts: hostNames,
    params: { PersonId: optional(I64), IncludeIconInResponse },
    result: Person,
    access: { rule: 'anyKey' },
  }),
  SearchProfiles: page({
    says: 'Finds members of the site by partial matches.',
    hosts: hostNames,
    params: {
      PersonId: optional(I64),
      FirstName: optional(Str),
      LastName: optional(Str),
      Email: optional(Str),
      WhiteLabelSiteId: optional(I64),
      CountryCode: optional(Str),
      DivisionCode: optional(Str),
      IPAddress: optional(Str),
      Phone: optional(Str),
      IsAlive: optional(Bool),
      IsEmailValidated: optional(Bool),
      IncludeIconInResponse,
    },
    result: Person,
    access: { rule: 'siteAdmin', kinds: bothKinds, site: 'WhiteLabelSiteId', permission: 'members' },
  }),
  GetInvestorPlanSubscriptions: page({
    says: 'Lists the investor plans of a person.',
    hosts: hostNames,
    params: { PersonId: I64, ActiveOnly },
    result: Subscription,
    access: reader,
  }),
  GetManagerPlanSubscriptions: page({
    says: 'Lists the manager plans of a person.',
    hosts: hostNames,
    params: { PersonId: I64, ActiveOnly },
    result: Subscription,
    access: reader,
  }),
  GetSubscribedStrategies: page({
    says: 'Lists the strategies a person subscribes to.',
    notes: 'ActiveOnly false lists all transactions.',
    hosts: hostNames,
    params: { PersonId: I64, ActiveOnly },
    result: SubscribedStrategy,
    access: reader,
  }),
  GetWhiteLabelSiteUsers: page({
    says: 'Lists the members of a WhiteLabel site.',
    hosts: ['Geo', 'WL'],
    params: { WhiteLabelSiteId: I64 },
    result: SiteMember,
    access: { rule: 'siteAdmin', kinds: ['whitelabel'], site: 'WhiteLabelSiteId', permission: 'members' },
  }),
  GetGeoSiteUsers: page({
    says: 'Lists the members of a GeoSite.',
    hosts: ['Geo'],
    params: { GeoSite: Str },
    result: SiteMember,
    access: { rule: 'siteAdmin', kinds: ['geo'], geoSite: 'GeoSite' },
  }),
  GetKYCScore: get({
    says: 'Shows the KYC state of a person of the site.',
    notes: 'GeoSites name the person by UserToken, WhiteLabel sites by PersonId.',
    hosts: ['Geo', 'WL'],
    params: { UserToken: optional(Str), PersonId: optional(I64) },
    needs: [kycPersonNamed],
    result: KYCScore,
    access: { ...kycAdmin, person: 'PersonId' },
  }),
  UpdateKYCScore: put({
    says: 'Records the outcome of a KYC process.',
    hosts: ['Geo', 'WL'],
    params: { UserToken: Str, IsFinished: maybe(Bool), IsApproved: maybe(Bool), Score: maybe(I64) },
    result: KYCScore,
    access: kycAdmin,
  }),
  GetKYCInfo: get({
    says: 'Shows the KYC data of a person of the site.',
    hosts: ['Geo', 'WL'],
    params: { UserToken: Str },
    result: KYCInfo,
    access: kycAdmin,
  }),
  AddKYCInfo: post({
    says: 'Records the KYC data of a person, in place of earlier data.',
    notes: 'Photos are base64 text.',
    hosts: ['Geo', 'WL'],
    params: {
      UserToken: Str,
      FirstName: Str,
      LastName: Str,
      Email,
      Phone: Str,
      IsPhoneVerified: maybe(Bool),
      Street: Str,
      City: Str,
      Province: Str,
      PostCode: Str,
      Country: Str,
      PhotoId1: maybe(Photo),
      PhotoId1Title: maybe(Str),
      PhotoId2: maybe(Photo),
      PhotoId2Title: maybe(Str),
    },
    result: KYCScore,
    access: kycAdmin,
    bodyMaxBytes: 8 * mebibyte,
  }),
  GetGeoSites: get({
    says: 'Lists the GeoSites.',
    hosts: ['Geo'],
    params: {},
    result: GeoSite,
    access: { rule: 'anyKey' },
  }),
  GetPhoneAlreadyExists: get({
    says: 'Tells whether a person has the phone number.',
    notes: 'Full international format: a plus sign, the country code, no zero after it.',
    hosts: ['Geo', 'WL'],
    params: { Phone },
    result: Bool,
    access: { rule: 'anyKey' },
  }),
  GetWlInstrumentationExport: get({
    says: "Exports a site's session events, autotrade figures, subscriptions and executions.",
    notes:
      'FromWhen and ToWhen are Unix seconds; without FromWhen the last DaysBack days. Session events are sign-ins, not page views. Lists are newest first and limited; Summary counts all.',
    hosts: ['WL'],
    params: {
      WhiteLabelSiteId: I64,
      FromWhen: optional(i64({ min: 0, max: 253_402_300_799 })),
      ToWhen: optional(i64({ min: 0, max: 253_402_300_799 })),
      DaysBack: withDefault(i64({ min: 1, max: 36_500 }), 30),
      PersonId: optional(I64),
      SystemId: optional(I64),
      SessionLimit: exportLimit(2000),
      SubscriptionLimit: exportLimit(2000),
      ExecutionLimit: exportLimit(1000),
    },
    result: WlInstrumentationExport,
    access: {
      rule: 'siteAdmin',
      kinds: ['whitelabel'],
      site: 'WhiteLabelSiteId',
      person: 'PersonId',
      permission: 'reports',
    },
  }),
}
