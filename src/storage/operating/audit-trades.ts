/** Rules of trades: they part the fills among them, and the open ones are the positions. */

import { type Fragment, fragment } from '../database/sql.ts'
import { leeway, noise, sinceSplits } from '../market/units-since-splits.ts'

/** What the fills of each trade add up to. */
const tradeFills = fragment`
  select t.*, ${leeway} as leeway, coalesce(sum(f.quantity * since.units) filter (where f.side = t.open_side), 0) as fills_opened,
    coalesce(sum(f.quantity * since.units) filter (where f.side <> t.open_side), 0) as fills_closed,
    coalesce(sum(f.quantity * since.units * f.px * since.price) filter (where f.side = t.open_side), 0)
      as fills_open_turnover,
    coalesce(sum(f.quantity * since.units * f.px * since.price) filter (where f.side <> t.open_side), 0)
      as fills_close_turnover, count(f.id) filter (where f.side = t.open_side) as openings,
    coalesce(sum(f.commission), 0) as fills_commission, sum(f.cash_change) as fills_cash
  from trade t left join fill f on f.trade_id = t.id
  ${sinceSplits(
    fragment`t.instrument_id`,
    fragment`f.filled_at`,
    fragment`(t.closed_at is null or t.closed_at >= a.takes_effect_at) and exists (
      select from position_adjustment j where j.action_id = a.id and j.strategy_id = t.strategy_id)`,
  )}
  group by t.id`

export const tradeRules: Record<string, Fragment> = {
  fillBelongsToTrade: fragment`
    select format('fill %s', f.exec_id) from fill f left join trade t on t.id = f.trade_id
    where t.id is null or t.strategy_id <> f.strategy_id or t.instrument_id <> f.instrument_id
      or f.filled_at < t.opened_at or f.filled_at > t.changed_at`,

  tradeIsSumOfFills: fragment`
    select format('trade %s opened %s and closed %s, fills say %s and %s', id, opened_qty, closed_qty, fills_opened,
      fills_closed)
    from (${tradeFills}) trades
    where abs(opened_qty - fills_opened) > leeway or abs(closed_qty - fills_closed) > leeway or commission <> fills_commission
      or abs(open_turnover - fills_open_turnover)
        > ${noise} + leeway * coalesce(fills_open_turnover / nullif(fills_opened, 0), 0)
      or abs(close_turnover - fills_close_turnover)
        > ${noise} + leeway * coalesce(fills_close_turnover / nullif(fills_closed, 0), 0)`,

  // What a closed trade earned is what its fills did to the cash, to the cent. Cash is moved by the position's average,
  // which keeps twelve digits: each fill that opens may cost half of the last, times all that a point of it is worth.
  closedTradeIsSettled: fragment`
    select format('trade %s earned %s, its cash says %s', id, profit_loss, fills_cash)
    from (
      select trades.*, ${noise} + 1e-12 * openings * opened_qty * point_value * fx as unkept
      from (${tradeFills}) trades join instrument i on i.id = instrument_id
    ) trades
    where closed_at is not null and (opened_qty <> closed_qty or closed_at <> changed_at
      or abs(profit_loss - fills_cash) > 0.005 + unkept or abs(realised - commission - fills_cash) > unkept)`,

  openTradeIsPosition: fragment`
    select format('strategy %s instrument %s holds %s @ %s, its trade %s @ %s', strategy_id, instrument_id, quantity,
      avg_px, held, trade_px)
    from (
      select strategy_id, instrument_id, coalesce(p.quantity, 0) as quantity, p.avg_px, coalesce(t.held, 0) as held,
        t.avg_px as trade_px
      from (select * from position where quantity <> 0) p full join (
        select strategy_id, instrument_id, avg_px,
          case open_side when '1' then opened_qty - closed_qty else closed_qty - opened_qty end as held
        from trade where closed_at is null
      ) t using (strategy_id, instrument_id)
    ) compared
    where quantity <> held or abs(avg_px - trade_px) > ${noise}`,

  worstMomentIsInTheTrade: fragment`
    select format('trade %s', id) from trade
    where worst_at < opened_at or worst_at > coalesce(closed_at, 'infinity') or worst_qty > opened_qty`,
}
