/** The auditor finds every defect that it was written for, and nothing on sound books. */
import { beforeEach, describe, expect, test } from 'vitest'
import { publishQuotes } from '../../src/execution/orders/matcher.ts'
import type { Sql } from '../../src/storage/database/sql.ts'
import { auditViolations } from '../../src/storage/operating/audit.ts'
import { accountRules } from '../../src/storage/operating/audit-accounts.ts'
import { signalRules } from '../../src/storage/operating/audit-signals.ts'
import { tradeRules } from '../../src/storage/operating/audit-trades.ts'
import { testDatabase } from '../support/database.ts'
import { addInstrument, addStrategy, makeWorld, place, quote } from './world.ts'

const { db } = await testDatabase()

/** Thrown to leave a defect behind nowhere. */
class Undone extends Error {}

type Defect = (tx: Sql) => Promise<unknown>

/** The rules that a change breaks, in a transaction that is rolled back. */
async function brokenBy(defect: Defect): Promise<string[]> {
  let found: string[] = []
  await db
    .transaction(async (tx) => {
      await defect(tx)
      found = (await auditViolations(tx)).map(({ rule }) => rule)
      throw new Undone()
    })
    .catch((error: unknown) => {
      if (!(error instanceof Undone)) throw error
    })
  return [...new Set(found)]
}

let filled = 0
let resting = 0

beforeEach(async () => {
  if (filled > 0) return
  const world = makeWorld(db)
  const strategyId = await addStrategy(db)
  const { symbol, id: instrumentId } = await addInstrument(db)
  filled = await place(world, { strategyId, instrumentId, side: '1' })
  resting = await place(world, { strategyId, instrumentId, side: '1', limit: '5' })
  await publishQuotes(world.ctx, [quote(symbol, '9', '10')])
  await follow(strategyId, instrumentId)
})

/** One follower with a filled copy at the paper broker, all as it should be. */
async function follow(strategyId: number, instrumentId: number): Promise<void> {
  await db.transaction(async (tx) => {
    await tx.run`insert into broker (name, connection_name, environment, adapter) values ('Paper', 'paper', 'paper', 'paper')`
    await tx.run`
      insert into account (site_id, person_id, broker_id, broker_environment, kind, account, starting_cash, cash,
        settings_changed_at, created_at)
      select p.site_id, p.id, b.id, 'paper', 1, 'A1', 5000, 4000, now(), now() from person p, broker b limit 1`
    await tx.run`
      insert into setup (account_id, strategy_id, scaling_percentage, stocks_enabled, stocks_long, stocks_short,
        options_enabled, options_long, options_short, futures_enabled, futures_long, futures_short, forex_enabled,
        forex_long, forex_short, joins_positions, joined_version, started_at, changed_at)
      select id, ${strategyId}, 100, true, true, true, true, true, true, true, true, true, true, true, true, true, 1,
        now(), now() from account`
    await tx.run`update signal set membership_horizon = 1, mirrored_at = now(), mirror_due = false`
    await tx.run`
      insert into account_order (account_id, broker_id, setup_id, strategy_id, source_id, instrument_id, side, ord_type,
        time_in_force, position_effect, order_qty, status, cum_qty, filled_value, avg_px, posted_at, ended_at, strategy_qty,
        scaling_percentage, held_qty, setup_fence)
      select a.id, a.broker_id, s.id, ${strategyId}, ${filled}, ${instrumentId}, '1', '1', '0', 'O', 100, '2', 100, 1000, 10,
        now(), now(), 100, 100, 0, 1 from account a, setup s`
    await tx.run`
      insert into account_skip (signal_id, setup_id, account_id, code, strategy_qty, scaling_percentage, held_qty, skipped_at)
      select ${resting}, s.id, s.account_id, 'RoundedToZero', 100, 100, 0, now() from setup s`
    await tx.run`
      insert into execution (broker_id, account_id, exec_id, order_id, setup_id, instrument_id, side, quantity, px,
        fx, cash_change, executed_at)
      select broker_id, account_id, 'E1', id, setup_id, instrument_id, side, 100, 10, 1, -1000, now() from account_order`
    await tx.run`
      insert into account_position (setup_id, instrument_id, account_id, strategy_id, quantity, avg_px, opened_at)
      select id, ${instrumentId}, account_id, strategy_id, 100, 10, now() from setup`
    await tx.run`
      insert into paper_order (account_id, client_order_id, broker_id, instrument_id, side, ord_type, time_in_force,
        position_effect, order_qty, status, cum_qty, accepted_at)
      select account_id, 'C1', broker_id, instrument_id, '1', '1', '0', 'O', 100, '2', 100, now() from account_order`
  })
}

const defects: Record<string, Defect> = {
  positionIsSumOfFills: (tx) => tx.run`update position set quantity = 99`,
  positionAgeFollowsQuantity: (tx) => tx.run`update position set opened_at = null`,
  cashIsSumOfEntries: (tx) => tx.run`update strategy set cash = cash + 0.01`,
  signalNamesWhatExists: (tx) => tx.run`update signal set instrument_id = 999999 where id = ${resting}`,
  fillFollowsItsSignal: (tx) => tx.run`update fill set side = '2'`,
  filledIsSumOfFills: (tx) => tx.run`update signal set cum_qty = 101 where id = ${filled}`,
  averageIsWeightedMean: (tx) => tx.run`update signal set avg_px = 10.000000000001 where id = ${filled}`,
  statusFitsQuantities: (tx) => tx.run`update signal set order_qty = 101 where id = ${filled}`,
  statusFitsTimes: (tx) => tx.run`update signal set ended_at = null where id = ${filled}`,
  heldOrdersWait: (tx) => tx.run`update signal set is_held = true where id = ${resting}`,
  childrenBelongToTheirParent: (tx) => tx.run`
    update signal set parent_signal_id = ${filled}, exit_role = 'stopLoss' where id = ${resting}`,
  exitsCoverWhatIsFilled: (tx) => tx.run`
    update signal set parent_signal_id = ${filled}, exit_role = 'stopLoss', oca_group_id = 1, order_qty = 101
    where id = ${resting}`,
  chainHasOneEnd: (tx) => tx.run`update signal set replaces_signal_id = ${resting} where id = ${filled}`,
  eventsTellTheStatus: (tx) => tx.run`update signal set status = '6' where id = ${resting}`,
  eventsHaveNoGap: (tx) => tx.run`delete from signal_event where signal_id = ${filled} and seq = 1`,
  statusMovedLegally: (tx) => tx.run`
    insert into signal_event select signal_id, 3, 'CANCEL_REQUEST', '6', now(), '{}' from signal_event
    where signal_id = ${filled} and seq = 2`,
  numbersAreGuarded: (tx) => tx.run`alter table quote add unguarded numeric`,
  fillBelongsToTrade: (tx) => tx.run`update fill set trade_id = null`,
  tradeIsSumOfFills: (tx) => tx.run`update trade set opened_qty = 101`,
  closedTradeIsSettled: (tx) => tx.run`
    update trade set closed_at = changed_at, closed_qty = opened_qty, profit_loss = 0.01, avg_px = null,
      avg_cost = null, watch_px = null`,
  openTradeIsPosition: (tx) => tx.run`update trade set avg_px = 9.99`,
  worstMomentIsInTheTrade: (tx) => tx.run`
    update trade set worst_result = -1, worst_px = 9.99, worst_at = opened_at - interval '1 s', worst_entry_px = 10,
      worst_qty = 100, worst_equity = 99999`,
  ledgerIsSumOfExecutions: (tx) => tx.run`update account_position set quantity = 99`,
  accountCashIsSumOfEntries: (tx) => tx.run`update account set cash = cash - 0.000000000001`,
  executedIsSumOfExecutions: (tx) => tx.run`update account_order set cum_qty = 101`,
  executedValueIsSumOfExecutions: (tx) => tx.run`update account_order set filled_value = 999`,
  executionAverageIsWeightedMean: (tx) => tx.run`update account_order set avg_px = 10.01`,
  orderStatusFitsQuantities: (tx) => tx.run`update account_order set status = '1'`,
  oneLiveCopyPerSignal: (tx) => tx.run`
    insert into account_order (account_id, broker_id, setup_id, strategy_id, source_id, revision, instrument_id, side,
      ord_type, time_in_force, position_effect, order_qty, status, posted_at, strategy_qty, scaling_percentage,
      held_qty, setup_fence)
    select account_id, broker_id, setup_id, strategy_id, source_id, r, instrument_id, side, ord_type, time_in_force,
      position_effect, 1, '0', now(), 1, 1, 0, 1 from account_order, generate_series(1, 2) r`,
  copiesStayInTheHorizon: (tx) => tx.run`update setup set joined_version = 2`,
  everyFollowerIsAnswered: (tx) => tx.run`delete from account_skip`,
  skipsHaveAReason: (tx) => tx.run`update account_skip set code = 'Whim'`,
  noSignalIsForgotten: (tx) => tx.run`update signal set mirrored_at = null where id = ${resting}`,
  paperTotalsAreSums: (tx) => tx.run`insert into paper_total select id, 'X', 1 from account`,
  brokerBookAgrees: (tx) => tx.run`update paper_order set cum_qty = 50`,
}

test('sound books break no rule', async () => {
  expect(await auditViolations(db.read)).toEqual([])
})

test('every rule has a defect to find', () => {
  expect(Object.keys(defects)).toEqual(Object.keys({ ...signalRules, ...tradeRules, ...accountRules }))
})

describe('a defect is found by its rule', () => {
  test.each(Object.entries(defects))('%s', async (rule, defect) => {
    expect(await brokenBy(defect)).toContain(rule)
  })
})

test('a follower answered twice is found', async () => {
  const twice: Defect = (tx) => tx.run`
    insert into account_skip (signal_id, setup_id, account_id, code, strategy_qty, scaling_percentage, held_qty, skipped_at)
    select ${filled}, setup_id, account_id, code, 1, 1, 0, now() from account_skip`
  expect(await brokenBy(twice)).toEqual(['everyFollowerIsAnswered'])
})

test('the broker is asked to agree only when every report has arrived', async () => {
  const onItsWay: Defect = async (tx) => {
    await tx.run`update paper_order set cum_qty = 50`
    await tx.run`
      insert into broker_report (broker_id, report_key, account_id, kind, symbol, occurred_at)
      select broker_id, 'R1', id, 'fill', 'T', now() from account`
  }
  expect(await brokenBy(onItsWay)).toEqual([])
})
