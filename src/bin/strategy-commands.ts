/** The operator's tools for strategies: what they cost, who may have them, and whether they take orders. */
import type { Command } from 'commander'
import { withdrawOpenings } from '../operations/strategies/withdrawing.ts'
import { changeStrategy, type StrategyTerms } from '../storage/operating/administration.ts'
import { ConfigError } from './config.ts'
import { type Output, onOrOff, readChanges, readDollars, readId, say, tool, withPlatform } from './tool.ts'

interface TermOptions extends Output {
  price?: string
  performanceFee?: string
  private?: string
  resellable?: string
  subscribers?: string
  short?: string
  long?: string
}

/** Adds strategy set, disable and enable. */
export function addStrategyCommands(strategy: Command): void {
  tool(strategy, 'set <strategy>', 'change what is given')
    .option('--price <dollars>', 'a month')
    .option('--performance-fee <percent>', 'of what followers gain, for terms that begin from now on')
    .option('--private <onOrOff>', 'seen by its followers alone')
    .option('--resellable <onOrOff>', 'may be in the catalogs of white-label sites')
    .option('--subscribers <onOrOff>', 'takes new ones')
    .option('--short <text>', 'what it does, in a line')
    .option('--long <text>', 'what it does, at length')
    .action((id: string, options: TermOptions) => setStrategy(id, options))
  const ends = 'takes no orders and no followers any more'
  tool(strategy, 'disable <strategy>', `it ${ends}; what it would open ends, what closes stays`).action(
    (id: string, output: Output) => disable(id, ends, output),
  )
  const begins = 'takes orders and followers again'
  tool(strategy, 'enable <strategy>', `it ${begins}`).action((id: string, output: Output) =>
    changed(id, { isAlive: true }, output, begins),
  )
}

const disable = (id: string, says: string, output: Output): Promise<void> =>
  withPlatform(async (db) => {
    const strategyId = readId(id)
    const changedAt = Date.now()
    const withdrawn = await db.transaction(async (tx) => {
      const count = await withdrawOpenings(tx, strategyId, changedAt)
      const known = await changeStrategy(tx, { strategyId, isAlive: false, changedAt })
      if (known === 0) throw new ConfigError(`there is no strategy ${id}`)
      return count
    })
    const ended = `${withdrawn} ${withdrawn === 1 ? 'opening order has' : 'opening orders have'} ended`
    say(output, { strategyId, withdrawn }, `Strategy ${id} ${says}; ${ended}.`)
  })

async function setStrategy(
  id: string,
  { price, performanceFee: fee, ...options }: TermOptions,
): Promise<void> {
  if (fee !== undefined && !/^(\d{1,2}|100)$/.test(fee))
    throw new ConfigError('--performance-fee is a whole number from 0 to 100')
  const takes = onOrOff('--subscribers', options.subscribers)
  const terms = readChanges({
    monthlyCost: price === undefined ? undefined : readDollars('--price', price),
    performanceFee: fee === undefined ? undefined : Number(fee),
    isPrivate: onOrOff('--private', options.private),
    isResellable: onOrOff('--resellable', options.resellable),
    noSubsAllowed: takes === undefined ? undefined : !takes,
    shortDescription: options.short,
    longDescription: options.long,
  })
  await changed(id, terms, options, 'is changed')
}

const changed = (
  id: string,
  terms: Omit<StrategyTerms, 'strategyId' | 'changedAt'>,
  output: Output,
  says: string,
): Promise<void> =>
  withPlatform(async (db) => {
    const known = await changeStrategy(db.write, { strategyId: readId(id), ...terms, changedAt: Date.now() })
    if (known === 0) throw new ConfigError(`there is no strategy ${id}`)
    say(output, { strategyId: Number(id) }, `Strategy ${id} ${says}.`)
  })
