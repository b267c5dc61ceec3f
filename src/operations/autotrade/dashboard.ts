/** What the setups of an account have earned, today and since they began. */

import { type Decimal, dec, zero } from '../../domain/decimal.ts'
import { groupBy } from '../../domain/group.ts'
import { accountOn } from '../../domain/margin/daily-close.ts'
import { accountValue } from '../../domain/margin/model-account.ts'
import { type EndedDay, earlyClose, lastEnd } from '../../domain/market/trading-day.ts'
import { setupReturns } from '../../domain/mirror/setup-return.ts'
import { bookStates, type LedgerState } from '../../domain/positions/ledger-state.ts'
import { listSetupResults, type SetupResult, worthOfSetups } from '../../storage/accounts/account-values.ts'
import { listHeldInstruments, loadBookAdjustments, readFillsOf } from '../../storage/accounts/book-history.ts'
import { loadCloseFacts } from '../../storage/accounts/daily-marks.ts'
import type { Sql } from '../../storage/database/sql.ts'
import type { Handler } from '../handler.ts'

/**
 * What each followed strategy has returned, in all and since the last end of a day; null where it cannot be
 * told.
 */
export const getDashBoard: Handler<'GetDashBoard'> = async (ctx, { PersonId, Account }) => {
  const last = lastEnd(ctx.now)
  const early = earlyClose(ctx.now)
  const setups = await listSetupResults(ctx.sql, PersonId, Account, { last, early })
  const worths = await worthOfSetups(ctx.sql, setups)
  const before = await worthAtClose(ctx.sql, setups, (setup) => (setup.closedEarly && early) || last)
  const results = setups.map((setup) => {
    const { total, today } = setupReturns({
      startedEquity: dec(setup.startedEquity),
      cashChange: dec(setup.cashChange),
      recentCashChange: dec(setup.recentCashChange),
      worth: worths.get(setup.setupId) ?? zero,
      worthBefore: before.get(setup.setupId) ?? zero,
    })
    return {
      PersonId: setup.personId,
      BrokerName: setup.brokerName,
      Account: setup.account,
      StrategyId: setup.strategyId,
      StrategyName: setup.strategyName,
      StartDate: setup.startedAt,
      TodayReturn: today?.toDecimalPlaces(8) ?? null,
      TotalReturn: total?.toDecimalPlaces(8) ?? null,
    }
  })
  return { results }
}

/** What each setup held when the last day of its account ended, at the marks of that day. */
async function worthAtClose(
  sql: Sql,
  setups: readonly SetupResult[],
  closeOf: (setup: SetupResult) => EndedDay,
): Promise<Map<number, Decimal>> {
  const older = setups.filter(({ isOlder }) => isOlder)
  if (older.length === 0) return new Map()
  // Most of what was ever traded was not held then.
  const moments = older.map((setup) => ({ ...setup, at: closeOf(setup).at }))
  const held = await listHeldInstruments(sql, moments)
  if (held.length === 0) return new Map()
  const ids = [...new Set(older.map(({ accountId }) => accountId))]
  const adjustments = groupBy(await loadBookAdjustments(sql, 'account', ids), ({ ledger }) => ledger)
  const books = new Map(
    moments.map(({ setupId, at }) => [setupId, bookStates(zero, adjustments.get(setupId) ?? [], [at])]),
  )
  for await (const fills of readFillsOf(sql, ids, held))
    for (const fill of fills) if (fill.ledger !== undefined) books.get(fill.ledger)?.add(fill)
  const states = older.map((setup) => {
    const [state] = books.get(setup.setupId)?.end() ?? []
    return { setup, state: state as LedgerState }
  })
  const facts = await loadCloseFacts(
    sql,
    older.map(({ currency }) => currency),
    held,
    older.map((setup) => closeOf(setup).day),
  )
  return new Map(
    states.flatMap(({ setup, state: { positions } }) => {
      const known = facts.get(setup.currency)
      if (!known) return []
      const account = accountOn({ cash: zero, positions }, closeOf(setup).day, known)
      return [[setup.setupId, accountValue(account)] as const]
    }),
  )
}
