/** The operator's tools for sites, people and strategies: what no operation of the interface sets. */
import type { Command } from 'commander'
import { isRefused } from '../operations/context.ts'
import { issueUserToken } from '../operations/user-tokens.ts'
import { changeRole, changeStrategy, changeSupport } from '../storage/administration.ts'
import { violatedConstraint } from '../storage/failure.ts'
import { findPlatformSite, insertAccounts, insertPersons, insertSite } from '../storage/provision.ts'
import { findSiteByCode } from '../storage/sites.ts'
import type { Sql } from '../storage/sql.ts'
import { ConfigError } from './config.ts'
import { loadSecrets } from './secrets.ts'
import { type Output, say, type Tool, withDatabase } from './tool.ts'

const roles = ['user', 'geosite_admin', 'whitelabel_admin', 'platform_admin'] as const
type Role = (typeof roles)[number]
const permissions = ['catalog', 'members', 'kyc', 'reports', 'billing']

function oneOf<T extends string>(name: string, value: string, allowed: readonly T[]): T {
  const found = allowed.find((one) => one === value)
  if (found === undefined) throw new ConfigError(`${name} is one of ${allowed.join(', ')}, not ${value}`)
  return found
}

const onOrOff = (name: string, value: string | undefined): boolean | undefined =>
  value === undefined ? undefined : oneOf(name, value, ['on', 'off']) === 'on'

const wordsOf: Readonly<Record<string, string>> = {
  person_email: 'a person has this address already',
  site_code_key: 'there is a site with this code already',
  account_broker_id_account_key: 'the broker has an account of this number already',
  account_check: 'only at a live broker is there a live account',
}

/** What the rows do not allow, in words for whoever typed it. */
const told = async <T>(work: Promise<T>): Promise<T> => {
  try {
    return await work
  } catch (error) {
    const constraint = violatedConstraint(error)
    if (constraint === undefined) throw error
    throw new ConfigError(wordsOf[constraint] ?? `the rows do not allow it (${constraint})`)
  }
}

async function siteIdOf(sql: Sql, code: string | undefined): Promise<number> {
  if (code === undefined) return findPlatformSite(sql)
  const site = await findSiteByCode(sql, code)
  if (site === undefined) throw new ConfigError(`there is no site ${code}`)
  return site.id
}

/** Adds sites, people, kyc and strategy. */
export function addPeopleCommands(tool: Tool, program: Command): void {
  addSiteCommands(
    tool,
    program.command('sites').description('add partner sites, say who supports their people'),
  )
  addPersonCommands(tool, program.command('people').description('add people, give them roles'))
  const kyc = program.command('kyc').description('send people to KYC')
  tool(kyc, 'token <person>', 'a new user token; it is shown once and ends the one before').action(
    (person: string, output: Output) =>
      withDatabase(async (db, config) => {
        const token = await issueUserToken(db.write, loadSecrets(config), Number(person), Date.now())
        if (isRefused(token)) throw new ConfigError(`there is no person ${person}`)
        say(output, { personId: Number(person), userToken: token }, token)
      }),
  )
  addStrategyCommands(
    tool,
    program.command('strategy').description('set what a strategy costs and who may have it'),
  )
}

interface SiteOptions extends Output {
  kind: string
  name: string
  domain?: string
  region?: string
}

function addSiteCommands(tool: Tool, sites: Command): void {
  tool(sites, 'add <code>', 'a region or a white-label site')
    .requiredOption('--kind <kind>', 'geo or whitelabel')
    .requiredOption('--name <name>', 'as people see it')
    .option('--domain <domain>', 'its address')
    .option('--region <code>', 'the region above a white-label site')
    .action((code: string, { kind, name, domain, region, ...output }: SiteOptions) =>
      withDatabase(async (db) => {
        const id = await insertedSite(db.write, { code, kind, name, domain, region })
        say(output, { siteId: id, code }, `Site ${code} has the id ${id}.`)
      }),
    )
  tool(sites, 'support <code>', 'who helps the people of a site')
    .option('--company <name>')
    .option('--url <address>')
    .option('--email <address>')
    .action((code: string, options: Output & { company?: string; url?: string; email?: string }) =>
      withDatabase(async (db) => {
        const { company, url, email } = options
        if (!(await changeSupport(db.write, { code, company, url, email })))
          throw new ConfigError(`there is no site ${code}`)
        say(options, { code }, `The support of ${code} is set.`)
      }),
    )
}

async function insertedSite(
  sql: Sql,
  site: { code: string; kind: string; name: string; domain: string | undefined; region: string | undefined },
): Promise<number> {
  const kind = oneOf('--kind', site.kind, ['geo', 'whitelabel'])
  if (site.region !== undefined && kind === 'geo') throw new ConfigError('a region has no region above it')
  const parent = site.region === undefined ? {} : { parentSiteId: await siteIdOf(sql, site.region) }
  const domain = site.domain === undefined ? {} : { domain: site.domain }
  return told(
    insertSite(sql, { kind, code: site.code, name: site.name, createdAt: Date.now(), ...domain, ...parent }),
  )
}

interface PersonOptions extends Output {
  first: string
  last: string
  email: string
  site?: string
  role: string
}

function addPersonCommands(tool: Tool, people: Command): void {
  tool(people, 'add', 'a person; keys are issued by themselves')
    .requiredOption('--first <name>')
    .requiredOption('--last <name>')
    .requiredOption('--email <address>')
    .option('--site <code>', 'the site of the person; the platform itself without it')
    .option('--role <role>', roles.join(', '), 'user')
    .action(({ first, last, email, site, role, ...output }: PersonOptions) =>
      withDatabase(async (db) => {
        const id = await db.transaction(async (tx) => {
          const person = { firstName: first, lastName: last, email, createdAt: Date.now() }
          const siteId = await siteIdOf(tx, site)
          const [personId = 0] = await told(insertPersons(tx, [{ ...person, siteId, role: 'user' }]))
          await giveRole(tx, personId, oneOf('--role', role, roles), null)
          return personId
        })
        say(output, { personId: id }, `The person has the id ${id}.`)
      }),
    )
  tool(people, 'role <person> <role>', 'give a person another role')
    .option(
      '--permissions <list>',
      `of an admin of a white-label site: ${permissions.join(',')}; all without it`,
    )
    .action((person: string, role: string, options: Output & { permissions?: string }) =>
      withDatabase(async (db) => {
        const given = options.permissions?.split(',').map((one) => oneOf('--permissions', one, permissions))
        await giveRole(db.write, Number(person), oneOf('the role', role, roles), given ?? null)
        say(options, { personId: Number(person), role }, `Person ${person} is ${role} now.`)
      }),
    )
  tool(people, 'account <person> <number>', 'an account that a person has at a live broker')
    .requiredOption('--broker <id>', 'which broker', Number)
    .option('--currency <code>', 'what it is kept in', 'USD')
    .option('--cash <amount>', 'what lies in it', '0')
    .action((person: string, account: string, { broker, currency, cash, ...output }: AccountOptions) =>
      withDatabase(async (db) => {
        const where = { personId: Number(person), brokerId: broker, account }
        const money = { currency, startingCash: cash, createdAt: Date.now() }
        const [accountId] = await told(insertAccounts(db.write, [{ ...where, ...money, kind: 0 }]))
        say(output, { accountId }, `Account ${account} is there.`)
      }),
    )
}

interface AccountOptions extends Output {
  broker: number
  currency: string
  cash: string
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
    throw new ConfigError(`there is no person ${personId} at a site for a ${role}`)
}

interface TermOptions extends Output {
  price?: string
  private?: string
  resellable?: string
  subscribers?: string
}

function addStrategyCommands(tool: Tool, strategy: Command): void {
  tool(strategy, 'set <strategy>', 'change what is given')
    .option('--price <dollars>', 'a month')
    .option('--private <onOrOff>', 'seen by its followers alone')
    .option('--resellable <onOrOff>', 'may be in the catalogs of white-label sites')
    .option('--subscribers <onOrOff>', 'takes new ones')
    .action((id: string, { price, private: hidden, resellable, subscribers, ...output }: TermOptions) =>
      withDatabase(async (db) => {
        if (price !== undefined && !/^\d{1,9}(\.\d{1,2})?$/.test(price))
          throw new ConfigError('--price is dollars and cents, 0 or more')
        const takes = onOrOff('--subscribers', subscribers)
        const changed = await changeStrategy(db.write, {
          strategyId: Number(id),
          monthlyCost: price,
          isPrivate: onOrOff('--private', hidden),
          isResellable: onOrOff('--resellable', resellable),
          noSubsAllowed: takes === undefined ? undefined : !takes,
        })
        if (changed === 0) throw new ConfigError(`there is no strategy ${id}`)
        say(output, { strategyId: Number(id) }, `Strategy ${id} is changed.`)
      }),
    )
}
