/** Followers by the hundred for tests and benchmarks: accounts, setups, what they hold. */

import type { Database } from '../../src/storage/database/database.ts'
import { raiseMembership, stopSetup } from '../../src/storage/mirror/setups.ts'

let made = 0

/** A broker whose adapter is the paper broker; answers its id. */
export async function addBroker(db: Database, environment: 'live' | 'paper' = 'paper'): Promise<number> {
  made += 1
  const { id } = await db.write.one<{ id: number }>`
    insert into broker (name, connection_name, environment, adapter)
    values (${`Broker ${made}`}, ${`b${made}`}, ${environment}, 'paper') returning id`
  return id
}

export interface FollowerWish {
  strategyId: number
  brokerId: number
  count: number
  scaling?: number
  maximumFutures?: number | null
  maximumStocksDollars?: number | null
  chaseFilled?: boolean
}

/** Accounts with 100,000 each that follow the strategy from now on; answers the ids of their setups in order. */
export async function addFollowers(db: Database, wish: FollowerWish): Promise<number[]> {
  made += 1
  const rows = await db.write.rows<{ id: number }>`
    with version as (
      update strategy set membership_version = membership_version + 1 where id = ${wish.strategyId}
      returning membership_version as joined, site_id, owner_person_id
    ), accounts as (
      insert into account (site_id, person_id, broker_id, broker_environment, kind, account, starting_cash, cash,
        settings_changed_at, created_at)
      select version.site_id, version.owner_person_id, b.id, b.environment,
        case b.environment when 'live' then 0 else 1 end, ${`F${made}-`} || n, 100000, 100000, now(), now()
      from version, broker b, generate_series(1, ${wish.count}::int) n where b.id = ${wish.brokerId}
      returning id
    )
    insert into setup (account_id, strategy_id, scaling_percentage, stocks_enabled, stocks_long, stocks_short,
      max_stocks_dollars, options_enabled, options_long, options_short, futures_enabled, futures_long, futures_short,
      max_futures, forex_enabled, forex_long, forex_short, chase_filled, joins_positions, joined_version,
      started_at, changed_at)
    select accounts.id, ${wish.strategyId}, ${wish.scaling ?? 100}, true, true, true,
      ${wish.maximumStocksDollars ?? null}::int, true, true, true, true, true, true,
      ${wish.maximumFutures ?? null}::int, true, true, true, ${wish.chaseFilled ?? true}, true, version.joined,
      now(), now()
    from accounts, version order by accounts.id returning id`
  return rows.map(({ id }) => id)
}

/** Starts a setup as the interface does: the strategy is locked and counts the join. */
export async function joinStrategy(db: Database, strategyId: number, brokerId: number): Promise<number> {
  const [id = 0] = await addFollowers(db, { strategyId, brokerId, count: 1 })
  return id
}

/** Stops a setup as the interface does; what it holds is closed or left. */
export async function leaveStrategy(db: Database, setupId: number, positionsLeftOpen = false): Promise<void> {
  await db.transaction(async (tx) => {
    const { strategyId } = await tx.one<{ strategyId: number }>`
      select strategy_id as "strategyId" from setup where id = ${setupId}`
    await tx.run`select from strategy where id = ${strategyId} for no key update`
    await stopSetup(tx, setupId, {
      leftVersion: await raiseMembership(tx, strategyId),
      stoppedAt: Date.now(),
      positionsLeftOpen,
    })
  })
}
