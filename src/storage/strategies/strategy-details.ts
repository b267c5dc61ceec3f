/** A strategy as it is shown: what its owner chose, how it is traded, and its figures. */
import { vehicleCurrency } from '../../domain/market/exchange-rate.ts'
import type { Instant } from '../../domain/time.ts'
import { type Fragment, fragment, type Sql } from '../database/sql.ts'
import { enabledColumns } from './enabled-classes.ts'

/** Whether a `setup` of an `account` follows: where Autotrade is off it follows with nothing. */
export const autotrades: Fragment = fragment`setup.stopped_at is null and not account.is_autotrade_disabled`

/** What every view of a strategy begins with. */
export interface StrategyHead {
  readonly id: number
  readonly name: string
  readonly startedAt: Instant
  readonly ownerPersonId: number
  readonly monthlyCost: string
  readonly stocksEnabled: boolean
  readonly optionsEnabled: boolean
  readonly futuresEnabled: boolean
  readonly forexEnabled: boolean
}

export interface StrategyDetailsRow extends StrategyHead {
  readonly ownerAlias: string
  /** Null outside white-label sites. */
  readonly whiteLabelSiteId: number | null
  readonly isAlive: boolean
  readonly isPrivate: boolean
  readonly isResellable: boolean
  readonly noSubsAllowed: boolean
  readonly shortDescription: string | null
  readonly longDescription: string | null
  readonly startingCash: string
  readonly cash: string
  readonly lastFillAt: Instant | null
  /** Paid and received so far. */
  readonly cashDividends: string
  /** When the last dividend or split was booked. */
  readonly lastAdjustedAt: Instant | null
  /** Scaling of the setup in which the owner autotrades it in a live account; null where he does not. */
  readonly ownScaling: number | null
  /**
   * The last quote, or its booking, of anything held, or of what that is valued by: underlyings of options and rates of
   * currencies.
   */
  readonly lastMarkAt: Instant | null
  /** When a fill or a correction was booked last: it may be of a time that has passed. */
  readonly notedAt: Instant | null
  readonly termsChangedAt: Instant | null
  /** Null until the first figures are there. */
  readonly computedAt: Instant | null
  readonly isAnnual: boolean | null
  readonly ageInDays: number | null
  readonly returnPercent: number | null
  readonly sharpe: number | null
  readonly sortino: number | null
  readonly calmar: number | null
  readonly alpha: number | null
  readonly beta: number | null
  readonly treynor: number | null
  readonly correlation: number | null
  readonly indexPercent: number | null
  readonly percentAboveIndex: number | null
  readonly maxDrawdown: number | null
  readonly maxDrawdownDays: number | null
  readonly maxDrawdownStart: string | null
  readonly maxDrawdownEnd: string | null
  readonly months: number | null
  readonly winMonths: number | null
  readonly winMonthsShown: number | null
  readonly winMonthsRatio: number | null
  readonly averageLeverage: number | null
  readonly highestLeverage: number | null
  readonly trades: number | null
  readonly winners: number | null
  readonly losers: number | null
  readonly winPercent: number | null
  readonly wonAmount: number | null
  readonly lostAmount: number | null
  readonly averageWin: number | null
  readonly averageLoss: number | null
  readonly profitFactor: number | null
  readonly averageTradeDays: number | null
  readonly stockTrades: number | null
  readonly optionTrades: number | null
  readonly futureTrades: number | null
  readonly forexTrades: number | null
}

/** A strategy with its figures; undefined where there is none. */
export const findStrategyDetails = (sql: Sql, id: number | bigint): Promise<StrategyDetailsRow | undefined> =>
  sql.maybe<StrategyDetailsRow>`
    select s.id, s.name, s.started_at as "startedAt", s.owner_person_id as "ownerPersonId",
      s.monthly_cost as "monthlyCost", ${enabledColumns(fragment`s`)}, p.alias as "ownerAlias",
      case when site.kind = 'whitelabel' then site.id end as "whiteLabelSiteId", s.is_alive as "isAlive",
      s.is_private as "isPrivate", s.is_resellable as "isResellable", s.no_subs_allowed as "noSubsAllowed",
      s.short_description as "shortDescription", s.long_description as "longDescription",
      s.starting_cash as "startingCash", s.cash, r.last_fill_at as "lastFillAt",
      coalesce(adjusted.dividends, 0) as "cashDividends", adjusted.booked_at as "lastAdjustedAt",
      (select setup.scaling_percentage from setup join account on account.id = setup.account_id
        where setup.strategy_id = s.id and ${autotrades} and account.person_id = s.owner_person_id and account.kind = 0
        order by setup.id limit 1) as "ownScaling",
      (select max(greatest(q.quoted_at, q.booked_at)) from position held join instrument i on i.id = held.instrument_id
        join instrument priced on priced.symbol = any(array[i.symbol,
          case when i.security_type = 'OPT' then i.underlying end,
          i.currency || ${vehicleCurrency}, ${vehicleCurrency} || i.currency,
          case when i.security_type = 'FOR' then left(i.symbol, 3) || ${vehicleCurrency} end,
          case when i.security_type = 'FOR' then ${vehicleCurrency} || left(i.symbol, 3) end])
        join quote q on q.instrument_id = priced.id
        where held.strategy_id = s.id and held.quantity <> 0) as "lastMarkAt", r.noted_at as "notedAt",
      greatest(s.terms_changed_at, variant.ended_at) as "termsChangedAt",
      f.computed_at as "computedAt", f.is_annual as "isAnnual", f.age_in_days as "ageInDays",
      f.return_percent as "returnPercent", f.sharpe, f.sortino, f.calmar, f.alpha, f.beta, f.treynor, f.correlation,
      f.index_percent as "indexPercent", f.percent_above_index as "percentAboveIndex",
      f.max_drawdown as "maxDrawdown", f.max_drawdown_days as "maxDrawdownDays",
      f.max_drawdown_start as "maxDrawdownStart", f.max_drawdown_end as "maxDrawdownEnd", f.months,
      f.win_months as "winMonths", f.win_months_shown as "winMonthsShown", f.win_months_ratio as "winMonthsRatio",
      f.avg_leverage as "averageLeverage", f.max_leverage as "highestLeverage", f.trades, f.winners, f.losers,
      f.win_percent as "winPercent", f.won_amount as "wonAmount", f.lost_amount as "lostAmount",
      f.average_win as "averageWin", f.average_loss as "averageLoss", f.profit_factor as "profitFactor",
      f.average_trade_days as "averageTradeDays", f.stock_trades as "stockTrades", f.option_trades as "optionTrades",
      f.future_trades as "futureTrades", f.forex_trades as "forexTrades"
    from strategy s join person p on p.id = s.owner_person_id join site on site.id = s.site_id
    join strategy_record r on r.strategy_id = s.id left join strategy_statistics f on f.strategy_id = s.id
    left join variant on variant.strategy_id = s.id
    cross join lateral (
      select sum(j.cash_change) filter (where a.kind = 'dividend') as dividends, max(a.booked_at) as booked_at
      from position_adjustment j join corporate_action a on a.id = j.action_id where j.strategy_id = s.id
    ) adjusted
    where s.id = ${id}::bigint`

/** A strategy's head with what its daily record starts from. */
export interface EquityHead extends StrategyHead {
  readonly startingCash: string
}

/** What an equity report says of its strategy before the first day. */
export const findEquityHead = (sql: Sql, id: number | bigint): Promise<EquityHead | undefined> =>
  sql.maybe<EquityHead>`
    select s.id, s.name, s.started_at as "startedAt", s.owner_person_id as "ownerPersonId",
      s.monthly_cost as "monthlyCost", ${enabledColumns(fragment`s`)}, s.starting_cash as "startingCash"
    from strategy s left join variant on variant.strategy_id = s.id where s.id = ${id}::bigint`

/** The closed days of a strategy, ascending. */
export const listStrategyDays = (
  sql: Sql,
  id: number | bigint,
): Promise<{ readonly day: string; readonly value: string }[]> =>
  sql.rows`select day, value from strategy_day where strategy_id = ${id}::bigint order by day`
