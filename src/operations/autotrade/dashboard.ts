/** What the setups of an account have earned, today and since they began. */
import { sessionAt, sessionOn, tradeDateAtOrBefore } from '../../domain/calendar.ts'
import { dec, zero } from '../../domain/decimal.ts'
import { setupReturns } from '../../domain/setup-return.ts'
import { type Day, dayIn, type Instant, newYork } from '../../domain/time.ts'
import { listSetupResults, loadAccountValues } from '../../storage/account-values.ts'
import type { Handler } from '../handler.ts'

const calendar = 'US_EQUITY'

/** The last session that is over: where it ends, today begins. */
function lastClose(now: Instant): { day: Day; at: Instant } {
  const running = sessionAt(calendar, now)
  let day = dayIn(now, newYork) - (running ? 1 : 0)
  for (;;) {
    day = tradeDateAtOrBefore(calendar, day)
    const session = sessionOn(calendar, day)
    if (session === undefined || session.close <= now) return { day, at: session?.close ?? now }
    day -= 1
  }
}

export const getDashBoard: Handler<'GetDashBoard'> = async (ctx, { PersonId, Account }) => {
  const setups = await listSetupResults(ctx.sql, PersonId, Account, lastClose(ctx.now))
  const values = await loadAccountValues(ctx.sql, [...new Set(setups.map(({ accountId }) => accountId))])
  const results = setups.map((setup) => {
    const { total, today } = setupReturns({
      startedEquity: dec(setup.startedEquity),
      cashChange: dec(setup.cashChange),
      recentCashChange: dec(setup.recentCashChange),
      worth: values.get(setup.accountId)?.bySetup.get(setup.setupId) ?? zero,
      worthBefore: setup.worthBefore === null ? null : dec(setup.worthBefore),
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
