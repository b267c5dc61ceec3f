/** The operator's tools for sites and people: what no operation of the interface sets. */
import type { Command } from 'commander'
import { permissions, type Role, roles, siteKindOf } from '../domain/people/access.ts'
import { isRefused } from '../operations/context.ts'
import { issueUserToken } from '../operations/user-tokens.ts'
import type { Sql } from '../storage/database/sql.ts'
import { changeRole, changeSupport } from '../storage/operating/administration.ts'
import { findEnvironment, insertAccounts, insertPersons, insertSite } from '../storage/operating/provision.ts'
import { findTenant } from '../storage/people/access.ts'
import { removePerson } from '../storage/people/person-removal.ts'
import { findSiteByCode } from '../storage/people/sites.ts'
import { ConfigError } from './config.ts'
import { openSecrets } from './secrets.ts'
import {
  type Output,
  oneOf,
  readBrokerId,
  readChanges,
  readDollars,
  readEmail,
  readId,
  readWords,
  say,
  siteIdOf,
  told,
  tool,
  withDatabase,
  withPlatform,
} from './tool.ts'

/** Adds sites, people and kyc. */
export function addPeopleCommands(program: Command): void {
  addSiteCommands(program.command('sites').description('add partner sites, say who supports their people'))
  addPersonCommands(program.command('people').description('add people, give them roles, delete them'))
  const kyc = program.command('kyc').description('send people to KYC')
  tool(kyc, 'token <person>', 'a new user token; it is shown once and ends the one before').action(
    (person: string, output: Output) =>
      withPlatform(async (db, config) => {
        const secrets = await openSecrets(config, db)
        const token = await issueUserToken(db.write, secrets, readId(person), Date.now())
        if (isRefused(token)) throw new ConfigError(`there is no person ${person}`)
        say(output, { personId: Number(person), userToken: token }, token)
      }),
  )
}

interface SiteOptions extends Output {
  kind: string
  name: string
  domain?: string
  region?: string
}

function addSiteCommands(sites: Command): void {
  tool(sites, 'add <code>', 'a region or a white-label site')
    .requiredOption('--kind <kind>', 'geo or whitelabel')
    .requiredOption('--name <name>', 'as people see it')
    .option('--domain <domain>', 'its address')
    .option('--region <code>', 'the region above a white-label site')
    .action((code: string, options: SiteOptions) =>
      withDatabase(async (db) => {
        const id = await insertedSite(db.write, code, options)
        say(options, { siteId: id, code }, `Site ${code} has the id ${id}.`)
      }),
    )
  tool(sites, 'support <code>', 'who helps the people of a site')
    .option('--company <name>', 'who that is')
    .option('--url <address>', 'where they are helped, as https://help.example.com')
    .option('--email <address>', 'where they write to')
    .action((code: string, options: Output & { company?: string; url?: string; email?: string }) =>
      withPlatform(async (db) => {
        const support = readChanges({
          company: options.company === undefined ? undefined : readWords('--company', options.company),
          url: options.url === undefined ? undefined : readPageAddress(options.url),
          email: options.email === undefined ? undefined : readEmail(options.email),
        })
        if (!(await changeSupport(db.write, { code, ...support })))
          throw new ConfigError(`there is no site ${code}`)
        say(options, { code }, `The support of ${code} is set.`)
      }),
    )
}

/** Labels of a host name with dots between them (RFC 1123). */
const domainPattern = /^(?=.{1,253}$)[a-z\d]([a-z\d-]{0,61}[a-z\d])?(\.[a-z\d]([a-z\d-]{0,61}[a-z\d])?)+$/i

function readDomain(text: string): string {
  if (!domainPattern.test(text)) throw new ConfigError(`--domain: ${text} is no host name`)
  return text
}

/** A link that customers follow. Throws ConfigError. */
function readPageAddress(text: string): string {
  if (!/^https?:\/\//i.test(text) || !URL.canParse(text))
    throw new ConfigError('--url is an address that begins with http:// or https://')
  return text
}

/** As people type it in filters, where a blank or a comma would part it. Throws ConfigError. */
function readCode(text: string): string {
  if (!/^[a-z\d]([\w.-]{0,62}[a-z\d])?$/i.test(text))
    throw new ConfigError(
      'the code is up to 64 letters, digits, dots, hyphens and underscores, no mark at an end',
    )
  return text
}

async function insertedSite(sql: Sql, siteCode: string, site: SiteOptions): Promise<number> {
  const kind = oneOf('--kind', site.kind, ['geo', 'whitelabel'])
  if (site.region !== undefined && kind === 'geo') throw new ConfigError('a region has no region above it')
  const parent = site.region === undefined ? {} : { parentSiteId: await regionOf(sql, site.region) }
  const domain = site.domain === undefined ? {} : { domain: readDomain(site.domain) }
  const [code, name] = [readCode(siteCode), readWords('--name', site.name)]
  return told(insertSite(sql, { kind, code, name, createdAt: Date.now(), ...domain, ...parent }))
}

async function regionOf(sql: Sql, code: string): Promise<number> {
  const region = await findSiteByCode(sql, code)
  if (region?.kind !== 'geo') throw new ConfigError(`there is no region ${code}`)
  return region.id
}

interface PersonOptions extends Output {
  first: string
  last: string
  email: string
  site?: string
  role: string
}

function addPersonCommands(people: Command): void {
  tool(people, 'add', 'a person; keys are issued by themselves')
    .requiredOption('--first <name>')
    .requiredOption('--last <name>')
    .requiredOption('--email <address>')
    .option('--site <code>', 'the site of the person; the platform itself without it')
    .option('--role <role>', roles.join(', '), 'user')
    .action(addPerson)
  tool(people, 'role <person> <role>', 'give a person another role')
    .option(
      '--permissions <list>',
      `of an admin of a white-label site: ${permissions.join(',')}; all without it`,
    )
    .action((person: string, role: string, options: Output & { permissions?: string }) =>
      withPlatform(async (db) => {
        const given = options.permissions?.split(',').map((one) => oneOf('--permissions', one, permissions))
        await giveRole(db.write, readId(person), oneOf('the role', role, roles), given ?? null)
        say(options, { personId: Number(person), role }, `Person ${person} is ${role} now.`)
      }),
    )
  tool(
    people,
    'delete <person>',
    'for good: keys end, what was entrusted is destroyed, its rows stay',
  ).action((person: string, output: Output) => deletePerson(readId(person), output))
  tool(
    people,
    'account <person> <number>',
    'an account of a person: as it is at a live broker, or opened at the paper broker',
  )
    .requiredOption('--broker <id>', 'which broker', readBrokerId)
    .option('--currency <code>', 'what it is kept in', 'USD')
    .option('--cash <amount>', 'what lies in it', '0')
    .action((person: string, account: string, options: AccountOptions) =>
      addAccount(readId(person), account, options),
    )
}

const addPerson = ({ first, last, email, site, role, ...output }: PersonOptions): Promise<void> =>
  withDatabase(async (db) => {
    readEmail(email)
    const id = await db.transaction(async (tx) => {
      const name = { firstName: readWords('--first', first), lastName: readWords('--last', last) }
      const person = { ...name, email, createdAt: Date.now() }
      const siteId = await siteIdOf(tx, site)
      const [personId = 0] = await told(insertPersons(tx, [{ ...person, siteId, role: 'user' }]))
      const wanted = oneOf('--role', role, roles)
      // Nobody has the person's id yet: what is wrong is the site.
      if (!(await changeRole(tx, { personId, role: wanted, permissions: null })))
        throw new ConfigError(`a ${wanted} is a person${homeOf(wanted)}: --site says of which`)
      return personId
    })
    say(output, { personId: id }, `The person has the id ${id}.`)
  })

const deletePerson = (personId: number, output: Output): Promise<void> =>
  withPlatform(async (db) => {
    const running = await db.transaction((tx) => removePerson(tx, personId, Date.now()))
    if (running === undefined) throw new ConfigError(`there is no living person ${personId}`)
    if (running.length > 0) throw new ConfigError(`end this first: ${running.join('; ')}`)
    say(output, { deleted: personId }, `Person ${personId} is deleted.`)
  })

const addAccount = (
  personId: number,
  number: string,
  { broker: brokerId, currency, cash, ...output }: AccountOptions,
): Promise<void> =>
  withPlatform(async (db) => {
    const account = readWords('the number', number)
    // Of no other there will ever be a rate, and without one amounts count as if they were the same.
    if (!Intl.supportedValuesOf('currency').includes(currency))
      throw new ConfigError('--currency is the code of a currency, in three capital letters')
    const money = { currency, startingCash: readDollars('--cash', cash), createdAt: Date.now() }
    if (!(await findTenant(db.read, personId))) throw new ConfigError(`there is no living person ${personId}`)
    const environment = await findEnvironment(db.read, brokerId)
    if (environment === undefined) throw new ConfigError(`there is no broker ${brokerId}`)
    const kind = environment === 'live' ? 0 : 1
    const wanted = { personId, brokerId, account, ...money, kind } as const
    const [accountId] = await told(insertAccounts(db.write, [wanted]))
    say(output, { accountId }, `Account ${account} is there.`)
  })

interface AccountOptions extends Output {
  broker: number
  currency: string
  cash: string
}

const homes = { geo: ' of a region', whitelabel: ' of a white-label site' } as const

/** Where the people are to whom a role is given. */
function homeOf(role: Role): string {
  const kind = siteKindOf[role]
  return kind === null ? '' : homes[kind]
}

async function giveRole(
  sql: Sql,
  personId: number,
  role: Role,
  given: readonly string[] | null,
): Promise<void> {
  if (given !== null && role !== 'whitelabel_admin')
    throw new ConfigError('permissions are for admins of white-label sites')
  if (!(await changeRole(sql, { personId, role, permissions: given })))
    throw new ConfigError(`there is no living person ${personId}${homeOf(role)}`)
}
