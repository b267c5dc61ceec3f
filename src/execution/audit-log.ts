/**
 * Chains the audit log within a second of each commit, and hands the new ends to whoever keeps them outside the
 * database. Kept ends that the chains do not lead to any more are never replaced by new ones: they are the proof.
 */
import {
  areEntriesUnsealed,
  type ChainHead,
  listChainHeads,
  lostHeads,
  sealEntries,
} from '../storage/operating/audit-chain.ts'
import type { Step, WorkContext } from './context.ts'

/** A place outside the database. */
export interface HeadKeeper {
  /** What was kept last; nothing before the first time. Throws when it is not what was kept. */
  load(): readonly ChainHead[]
  save(heads: readonly ChainHead[]): void
}

/**
 * The step; without a keeper entries are chained and their ends stay in the database alone. Ends that could not be kept,
 * as on a full disk, are kept as soon as they can be: the next entry may be hours away, and until then nobody could tell
 * that the last ones were cut off. So are those that a worker before this one chained and, killed at that moment, did not keep.
 */
export function sealingStep(keeper?: HeadKeeper): Step {
  let isBehind = keeper !== undefined
  return {
    name: 'audit log',
    due: () => isBehind || areEntriesUnsealed(),
    run: async (ctx) => {
      const wasBehind = isBehind
      // A commit may have happened though its answer was lost.
      isBehind = keeper !== undefined
      const sealed = await sealEntries(ctx.db)
      if (keeper && (sealed > 0 || wasBehind)) await keepHeads(ctx, keeper)
      isBehind = false
      return sealed
    },
  }
}

async function keepHeads({ db, log, tally }: WorkContext, keeper: HeadKeeper): Promise<void> {
  const lost = await lostHeads(db.read, keeper.load())
  tally.lostHeads = lost.length
  if (lost.length === 0) keeper.save(await listChainHeads(db.read))
  else log.error({ lost }, 'the audit log was cut off or written anew: lockstep audit verify')
}
