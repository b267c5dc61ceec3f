/**
 * What moves the books of a setup: its executions, dividends and splits of what it holds, and entries of cash. Each
 * counts from the moment at which it took effect.
 */
import { type Fragment, fragment } from '../database/sql.ts'

/**
 * Executions `e`, those that take another one back beside the `original`: it is looked up by its key. For the history of
 * one account the planner would else read those of all.
 */
export const executions: Fragment = fragment`
  execution e left join lateral (
    select executed_at from execution where broker_id = e.broker_id and account_id = e.account_id and exec_id = e.busts
    offset 0) original on true`

/**
 * What is taken back counts from when its broker said so, and never before it was executed: an execution that is told
 * late, with its own moment, takes the place of one that was inferred since.
 */
export const countsFrom: Fragment = fragment`greatest(e.executed_at, original.executed_at)`

/** Rows of `cash_change` and `at` of the setup in the row `setup`, in the account of the row `a`. */
export const cashOfSetup: Fragment = fragment`
  select e.cash_change, ${countsFrom} as at from ${executions}
  where e.account_id = a.id and e.setup_id = setup.id
  union all
  select j.cash_change, c.takes_effect_at from account_adjustment j
  join corporate_action c on c.id = j.action_id where j.account_id = a.id and j.setup_id = setup.id
  union all
  select n.cash_change, n.booked_at from account_entry n where n.account_id = a.id and n.setup_id = setup.id`

/** Rows of `instrument_id`, `quantity` and `at`: what has moved the positions of a setup in an account, by their ids. */
export const quantitiesOf = (accountId: Fragment, setupId: Fragment): Fragment => fragment`
  select e.instrument_id, case e.side when '1' then e.quantity else -e.quantity end as quantity, ${countsFrom} as at
  from ${executions} where e.account_id = ${accountId} and e.setup_id = ${setupId}
  union all
  select c.instrument_id, j.quantity_change, c.takes_effect_at from account_adjustment j
  join corporate_action c on c.id = j.action_id where j.account_id = ${accountId} and j.setup_id = ${setupId}`

/** The same, each from when it had taken effect and was known here: a broker may tell of it days later. */
export const quantitiesKnown = (accountId: Fragment, setupId: Fragment): Fragment => fragment`
  select e.instrument_id, case e.side when '1' then e.quantity else -e.quantity end as quantity,
    greatest(${countsFrom}, told.applied_at) as at
  from ${executions} left join broker_report told on told.broker_id = e.broker_id
    and told.account_id = e.account_id and told.report_key = e.exec_id
  where e.account_id = ${accountId} and e.setup_id = ${setupId}
  union all
  select c.instrument_id, j.quantity_change, greatest(c.takes_effect_at, c.booked_at) from account_adjustment j
  join corporate_action c on c.id = j.action_id where j.account_id = ${accountId} and j.setup_id = ${setupId}`

/** Rows of `setup_id` and `cash_change`: what has moved the cash of all setups of an account, by its id. */
export const cashOfSetups = (accountId: Fragment): Fragment => fragment`
  select setup_id, cash_change from execution where account_id = ${accountId}
  union all
  select setup_id, cash_change from account_adjustment where account_id = ${accountId}
  union all
  select setup_id, cash_change from account_entry where account_id = ${accountId}`
