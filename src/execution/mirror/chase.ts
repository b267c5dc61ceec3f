/**
 * Copies that still work when the grace after their signal's fill is over. As much of one as brings the account
 * to what it should hold becomes a market order, the rest is withdrawn; where nobody wants to go after the
 * price all of it is.
 */
import { directionOf } from '../../domain/codes.ts'
import { type Decimal, dec, decOrNull, max, min, zero } from '../../domain/decimal.ts'
import { limitOf } from '../../domain/mirror/mirror-plan.ts'
import { size, target } from '../../domain/mirror/mirror-target.ts'
import type { Instant } from '../../domain/time.ts'
import { cancelThese } from '../../storage/mirror/account-orders.ts'
import {
  type ChaseRow,
  findNextChase,
  isChaseDue,
  listChasedAccounts,
  lockDueChases,
  settleChases,
} from '../../storage/mirror/chases.ts'
import { type Succession, saveSuccessions, successionOf } from '../../storage/mirror/successions.ts'
import { settingsOf } from '../../storage/mirror/sync-cases.ts'
import { markSetups } from '../../storage/mirror/sync-due.ts'
import type { Among } from '../../storage/work/among.ts'
import type { Step, WorkContext } from '../context.ts'
import { isolated } from '../isolation.ts'

const copiesAtOnce = 5_000
const statementTimeoutMs = 30_000

const leavesOf = (row: ChaseRow): Decimal => max(zero, dec(row.orderQty).minus(row.cumQty))

/** What is decided of a copy, and from what. */
interface Chased {
  /** How much of it still brings the account, at `position`, to the strategy's position. */
  readonly wanted: Decimal
  readonly position: Decimal
  /** What bounds the size. */
  readonly limit: Decimal | null
}

function decide(row: ChaseRow, position: Decimal): Chased {
  const direction = directionOf(row.side)
  const settings = settingsOf(row.securityType, row.setup)
  const goal = (row.positionEffect === 'O' ? target : size)(dec(row.strategyPosition), {
    assetClass: row.securityType,
    settings,
    held: position,
    referencePrice: decOrNull(row.limitPx ?? row.stopPx ?? row.referencePx),
  })
  const missing = max(zero, goal.quantity.minus(position).times(direction))
  const most = row.positionEffect === 'O' ? missing : min(missing, max(zero, position.times(-direction)))
  const limit = limitOf({ assetClass: row.securityType }, settings, goal.reason)
  return { wanted: row.isLeft ? zero : min(leavesOf(row), most), position, limit }
}

/** The market order that goes on for the copy. */
const turned = (row: ChaseRow, { wanted, position, limit }: Chased, at: Instant): Succession =>
  successionOf(row, {
    sourceId: row.sourceId,
    revision: row.lastRevision + 1,
    ordType: '1',
    timeInForce: '0',
    limitPx: null,
    stopPx: null,
    leaves: wanted,
    at,
    chaseAt: null,
    info: 'turned to market',
    reason: null,
    strategyQty: dec(row.strategyPosition),
    scalingPercentage: row.scalingPercentage,
    limitValue: limit,
    heldQty: position,
    referencePx: row.referencePx,
  })

/** Settles the copies whose grace is over; answers how many. */
export const chaseCopies = (ctx: WorkContext): Promise<number> =>
  isolated(ctx, {
    name: 'copies of an account that are left behind',
    work: (accounts) => chaseThese(ctx, accounts),
    list: (accounts, limit) => listChasedAccounts(ctx.db.read, ctx.clock.now(), accounts, limit),
  })

const chaseThese = (ctx: WorkContext, accounts: Among): Promise<number> =>
  ctx.db.transaction(
    async (tx) => {
      const now = ctx.clock.now()
      const rows = await lockDueChases(tx, now, accounts, copiesAtOnce)
      if (rows.length === 0) return 0
      const positions = new Map<string, Decimal>()
      const withdrawn: ChaseRow[] = []
      const successions: Succession[] = []
      for (const row of rows) {
        // To be replaced or canceled, it is no longer what is to be decided.
        if (row.isReplaced || row.status === 'E' || row.status === '6') continue
        const name = `${row.setupId} ${row.instrumentId}`
        const position = positions.get(name) ?? dec(row.position)
        const chased = decide(row, position)
        const { wanted } = chased
        positions.set(name, position.plus(wanted.times(directionOf(row.side))))
        if (wanted.isZero()) withdrawn.push(row)
        else if (row.ordType !== '1' || !wanted.equals(leavesOf(row)))
          successions.push(turned(row, chased, now))
      }
      await settleChases(tx, rows)
      await cancelThese(tx, withdrawn, { at: now, info: 'left behind by its signal' })
      await saveSuccessions(tx, successions, now)
      // No broker reports the end of what it never saw: what it was to do is AutoSync's.
      const unseen = withdrawn.filter(({ status, attempts }) => status === 'A' && attempts === 0)
      await markSetups(
        tx,
        unseen.map(({ setupId }) => setupId),
        now,
      )
      return rows.length
    },
    { statementTimeoutMs },
  )

/** Copies wait for the end of their grace. */
export const chaseStep: Step = {
  name: 'chaseCopies',
  due: isChaseDue,
  moments: [findNextChase],
  run: chaseCopies,
}
