/** The operator's tools for strategy families: variants that follow a strategy by themselves. */
import type { Command } from 'commander'
import type { SecurityType } from '../domain/codes.ts'
import { endVariant, insertVariant, listVariants } from '../storage/strategies/variants.ts'
import { ConfigError } from './config.ts'
import {
  type Output,
  readDollars,
  readId,
  readWhole,
  readWords,
  say,
  sayList,
  tableOf,
  tool,
  utcOf,
  withPlatform,
} from './tool.ts'

const classes: Readonly<Record<string, SecurityType>> = {
  stocks: 'CS',
  options: 'OPT',
  futures: 'FUT',
  forex: 'FOR',
}

/** Classes as they are typed. */
const wordsOf = (types: readonly SecurityType[]): string =>
  Object.keys(classes)
    .filter((word) => types.some((type) => type === classes[word]))
    .join(',')

interface CreateOptions extends Output {
  name: string
  owner: string
  scaling: string
  classes: string
  capital?: string
}

/** Adds mux create, list and end. */
export function addFamilyCommands(mux: Command): void {
  tool(mux, 'create <strategy>', 'a variant of the strategy, for a white-label site')
    .requiredOption('--name <name>', 'of the variant')
    .requiredOption('--owner <person>', 'a person of the site that the variant belongs to')
    .option('--scaling <percent>', 'of the quantities of its parent', '100')
    .option('--classes <list>', 'what it trades', Object.keys(classes).join(','))
    .option('--capital <dollars>', 'what it begins with; the scaled capital of its parent without it')
    .action((parent: string, options: CreateOptions) => create(parent, options))
  tool(mux, 'list', 'every variant, by its parent').action((output: Output) =>
    withPlatform(async (db) => {
      const variants = (await listVariants(db.read, {})).map(({ createdAt, ...row }) => ({
        ...row,
        created: utcOf(createdAt),
      }))
      const lines = tableOf(
        variants.map((row) => ({
          strategy: row.strategyId,
          name: row.name,
          parent: row.parentId,
          site: row.siteId,
          scaling: `${row.scalingPercentage} %`,
          classes: wordsOf(row.securityTypes),
          created: row.created,
        })),
      )
      sayList(output, { variants }, lines, 'There are no variants.')
    }),
  )
  tool(mux, 'end <variant>', 'it goes on by itself, with what it holds').action(
    (variant: string, output: Output) =>
      withPlatform(async (db) => {
        if (!(await db.transaction((tx) => endVariant(tx, readId(variant), Date.now()))))
          throw new ConfigError(`strategy ${variant} is nobody's variant`)
        say(output, { ended: Number(variant) }, `Strategy ${variant} follows nobody any more.`)
      }),
  )
}

async function create(parent: string, { name, owner, scaling, capital, ...options }: CreateOptions) {
  const startingCash = capital === undefined ? undefined : readDollars('--capital', capital)
  if (Number(startingCash) === 0) throw new ConfigError('--capital is more than nothing')
  const securityTypes = [...new Set(options.classes.split(','))].map((word) => {
    const found = classes[word]
    if (!found) throw new ConfigError(`--classes is of ${Object.keys(classes).join(', ')}, not ${word}`)
    return found
  })
  const wanted = {
    parentId: readId(parent),
    ownerPersonId: readId(owner),
    name: readWords('--name', name),
    scalingPercentage: readWhole('--scaling', scaling, 1, 1000),
    securityTypes,
    startingCash,
    createdAt: Date.now(),
  }
  await withPlatform(async (db) => {
    const id = await db.transaction((tx) => insertVariant(tx, wanted))
    if (id === 'parent')
      throw new ConfigError(`there is no living strategy ${parent} that is no variant itself`)
    if (id === 'owner') throw new ConfigError(`there is no person ${owner} of a white-label site`)
    say(options, { strategyId: id, parentId: wanted.parentId }, `The variant is strategy ${id}.`)
  })
}
