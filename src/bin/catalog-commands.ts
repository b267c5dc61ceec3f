/** The operator's tools for what sites sell: their catalogs, their plans and who pays for Autotrade there. */
import type { Command } from 'commander'
import { isRefused } from '../operations/context.ts'
import { type ChosenPlan, choosePlan } from '../operations/subscribe-plan.ts'
import {
  changeCatalogEntry,
  isWhiteLabelSite,
  listCatalog,
  saveFeePolicy,
} from '../storage/billing/catalog.ts'
import {
  cancelPlan,
  listSitePlans,
  type PlanKind,
  savePlan,
  withdrawPlan,
} from '../storage/billing/plan-subscriptions.ts'
import type { Sql } from '../storage/database/sql.ts'
import { askOperation } from './call.ts'
import { ConfigError } from './config.ts'
import {
  type Output,
  oneOf,
  readChanges,
  readDollars,
  readId,
  readWhole,
  readWords,
  say,
  sayList,
  siteIdOf,
  tableOf,
  tool,
  withPlatform,
} from './tool.ts'

const planKinds = ['investor', 'manager'] as const satisfies readonly PlanKind[]

/** Adds catalog, plans and fees. */
export function addCatalogCommands(program: Command): void {
  addCatalog(program.command('catalog').description('what a white-label site resells'))
  const plans = program.command('plans').description('what sites offer, and who has it')
  addPlans(plans)
  addPlanChoices(plans)
  tool(program, 'fees <site>', 'who pays for Autotrade at a white-label site')
    .requiredOption('--payer <payer>', 'customer, site or none')
    .option('--tiers <list>', 'of a site, which needs them: accounts and dollars for each, as 1-10:5,11:4.50')
    .action((site: string, { payer, tiers, ...output }: Output & { payer: string; tiers?: string }) =>
      withPlatform(async (db) => {
        const policy = {
          payer: oneOf('--payer', payer, ['customer', 'site', 'none']),
          tiers: readTiers(tiers),
        }
        if (policy.payer !== 'site' && policy.tiers.length > 0)
          throw new ConfigError('--tiers are for a site that pays')
        // They are replaced whole: without any, nobody could read what the site pays.
        if (policy.payer === 'site' && policy.tiers.length === 0)
          throw new ConfigError('a site that pays needs --tiers, such as 1-10:5,11:4.50')
        const siteId = await resellerOf(db.read, site)
        await db.transaction((tx) => saveFeePolicy(tx, siteId, policy))
        say(output, { siteId, payer: policy.payer }, `At ${site} Autotrade is paid by: ${policy.payer}.`)
      }),
    )
}

/** Tiers as they are typed, each beginning behind the one before it; the last may be open. */
function readTiers(text: string | undefined) {
  const tiers = (text?.split(',') ?? []).map((word) => {
    const [, from, to, price] = /^(\d{1,6})(?:-(\d{1,6}))?:(\d{1,9}(?:\.\d{1,2})?)$/.exec(word) ?? []
    if (from === undefined || price === undefined) throw new ConfigError(`${word} is no tier such as 1-10:5`)
    return { fromAccounts: Number(from), toAccounts: to === undefined ? null : Number(to), price }
  })
  const isWhole = tiers.every(
    ({ fromAccounts, toAccounts }, place) =>
      fromAccounts === (place === 0 ? 1 : (tiers[place - 1]?.toAccounts ?? -1) + 1) &&
      (toAccounts === null || toAccounts >= fromAccounts),
  )
  if (!isWhole) throw new ConfigError('--tiers begin with 1 account and follow one another without a gap')
  return tiers
}

async function resellerOf(sql: Sql, code: string): Promise<number> {
  const siteId = await siteIdOf(sql, code)
  if (!(await isWhiteLabelSite(sql, siteId))) throw new ConfigError(`${code} is no white-label site`)
  return siteId
}

function addCatalog(catalog: Command): void {
  tool(catalog, 'list <site>', 'with names and prices of its own').action((site: string, output: Output) =>
    withPlatform(async (db) => {
      const entries = await listCatalog(db.read, await resellerOf(db.read, site))
      const lines = tableOf(
        entries.map((row) => ({
          strategy: row.strategyId,
          name: row.displayName,
          price: row.basePrice,
          markup: row.markup,
        })),
      )
      sayList(output, { catalog: entries }, lines, 'The catalog is empty.')
    }),
  )
  for (const Action of ['Add', 'Remove'] as const) addCatalogChange(catalog, Action)
  tool(catalog, 'set <site> <strategy>', 'name and markup of a strategy in the catalog')
    .option('--name <name>', 'as the customers of the site see it')
    .option('--markup <dollars>', 'a month, on top of the price of the strategy')
    .action(
      (site: string, id: string, { name, markup, ...output }: Output & { name?: string; markup?: string }) =>
        withPlatform(async (db) => {
          const entry = readChanges({
            name: name === undefined ? undefined : readWords('--name', name),
            markup: markup === undefined ? undefined : readDollars('--markup', markup),
          })
          const siteId = await resellerOf(db.read, site)
          if (!(await db.transaction((tx) => changeCatalogEntry(tx, siteId, readId(id), entry))))
            throw new ConfigError(`strategy ${id} is not in the catalog of ${site}`)
          say(output, { strategyId: Number(id) }, `Strategy ${id} is changed in the catalog of ${site}.`)
        }),
    )
}

/** `catalog add` and `catalog remove`: by the operation of the sites, which answers for each strategy. */
function addCatalogChange(catalog: Command, Action: 'Add' | 'Remove'): void {
  tool(catalog, `${Action.toLowerCase()} <site> <strategy...>`, `${Action.toLowerCase()} strategies`).action(
    (site: string, strategies: string[], output: Output) =>
      withPlatform(async (db, config) => {
        const WhiteLabelSiteId = await resellerOf(db.read, site)
        const params = { Action, StrategyIds: strategies.map(readId), WhiteLabelSiteId }
        const results = await askOperation(db, config, { operation: 'UpdateSiteCatalog', params })
        const rows = results as { StrategyId: number; Ok: boolean; Status: string; Message?: string }[]
        say(
          output,
          { results },
          rows.map((row) => `${row.StrategyId}  ${row.Message ?? row.Status}`).join('\n'),
        )
        if (rows.some(({ Ok }) => !Ok)) process.exitCode = 1
      }),
  )
}

interface PlanOptions extends Output {
  price: string
  kind: string
  days: string
  strategies: string
}

function addPlans(plans: Command): void {
  tool(plans, 'add <site> <name>', 'offer a plan; one of that name is offered as said here')
    .requiredOption('--price <dollars>', 'of a term')
    .option('--kind <kind>', planKinds.join(' or '), 'investor')
    .option('--days <n>', '30 or 365', '30')
    .option('--strategies <n>', 'how many are included', '0')
    .action((site: string, name: string, { price, kind, days, strategies, ...output }: PlanOptions) =>
      withPlatform(async (db) => {
        const id = await savePlan(db.write, {
          siteId: await siteIdOf(db.read, site),
          name: readWords('the name', name),
          kind: oneOf('--kind', kind, planKinds),
          termDays: oneOf('--days', days, ['30', '365']) === '30' ? 30 : 365,
          strategiesIncluded: readWhole('--strategies', strategies),
          price: readDollars('--price', price),
        })
        say(output, { planId: id }, `The plan has the id ${id}.`)
      }),
    )
  tool(plans, 'list <site>', 'what it offers').action((site: string, output: Output) =>
    withPlatform(async (db) => {
      const offered = await listSitePlans(db.read, await siteIdOf(db.read, site))
      const lines = tableOf(
        offered.map((row) => ({
          plan: row.id,
          site: row.siteId,
          kind: row.kind,
          name: row.name,
          days: row.termDays,
          strategies: row.strategiesIncluded,
          price: row.price,
        })),
      )
      sayList(output, { plans: offered }, lines, 'There are no plans.')
    }),
  )
  tool(plans, 'withdraw <plan>', 'who has it keeps it until the end of the term').action(
    (plan: string, output: Output) =>
      withPlatform(async (db) => {
        if (!(await withdrawPlan(db.write, readId(plan)))) throw new ConfigError(`there is no plan ${plan}`)
        say(output, { planId: Number(plan) }, `Plan ${plan} is offered no more.`)
      }),
  )
}

const beginnings: Record<ChosenPlan['begins'], string> = {
  now: 'now',
  withPayment: 'as soon as it is paid (payments unpaid)',
  later: 'when the present term ends',
}

function addPlanChoices(plans: Command): void {
  tool(plans, 'choose <plan>', 'subscribe a person, or change to a plan; what it costs more is paid')
    .requiredOption('--person <id>', 'who has it')
    .action((plan: string, { person, ...output }: Output & { person: string }) =>
      withPlatform(async (db) => {
        const wanted = { personId: readId(person), planId: readId(plan), at: Date.now() }
        const chosen = await db.transaction(async (tx) => {
          const outcome = await choosePlan(tx, wanted)
          if (isRefused(outcome)) throw new ConfigError(outcome.message ?? outcome.refused)
          return outcome
        })
        say(output, chosen, `Plan ${plan} begins ${beginnings[chosen.begins]}.`)
      }),
    )
  tool(plans, 'cancel <kind>', 'let the plan of a person end with its term')
    .requiredOption('--person <id>', 'whose')
    .action((kind: string, { person, ...output }: Output & { person: string }) =>
      withPlatform(async (db) => {
        if (!(await cancelPlan(db.write, readId(person), oneOf('the kind', kind, planKinds))))
          throw new ConfigError(`person ${person} has no ${kind} plan`)
        say(output, { personId: Number(person) }, 'It ends with its term.')
      }),
    )
}
