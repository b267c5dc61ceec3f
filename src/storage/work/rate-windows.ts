/**
 * Used-up calls per subject and window, shared by all processes. Time is the database's own clock, read as
 * seconds since the start of a window, so that processes need not agree on anything else. A window that lies
 * in the future (the clock was set back) starts anew.
 */
import { type Fragment, fragment, type Sql } from '../database/sql.ts'

export interface WindowUse {
  subject: string
  /** Length of the window. */
  seconds: number
  used: number
}

export interface WindowState extends WindowUse {
  /** Since its start. */
  elapsedSeconds: number
}

/**
 * Adds what this process has used since the last time (zero only asks) and gives the totals of all processes.
 * Locks rows in the order of their key, so two processes cannot block each other.
 */
export const addWindowUse = (sql: Sql, uses: readonly WindowUse[]): Promise<WindowState[]> =>
  sql.rows<WindowState>`
    insert into rate_window as w (subject, window_seconds, started_at, used)
    select subject, seconds, clock_timestamp(), used
    from unnest(${uses.map((use) => use.subject)}::text[], ${uses.map((use) => use.seconds)}::int[],
      ${uses.map((use) => use.used)}::int[]) as u (subject, seconds, used)
    order by subject, seconds
    on conflict (subject, window_seconds) do update set
      used = excluded.used + case when w.started_at > clock_timestamp() - make_interval(secs => w.window_seconds)
        and w.started_at <= clock_timestamp() then w.used else 0 end,
      started_at = case when w.started_at > clock_timestamp() - make_interval(secs => w.window_seconds)
        and w.started_at <= clock_timestamp() then w.started_at else clock_timestamp() end
    returning subject, window_seconds as seconds, used,
      extract(epoch from clock_timestamp() - started_at)::float8 as "elapsedSeconds"`

/** Forgets windows that have run out, at most so many. */
export const purgeWindows = (sql: Sql, count: number): Promise<number> =>
  sql.run`
    delete from rate_window where ctid = any(array(
      select ctid from rate_window where started_at < clock_timestamp() - make_interval(secs => window_seconds)
      limit ${count}::int for update skip locked))`

/**
 * True while there are windows that ended a day ago; a condition for a larger statement. By the time of the statement:
 * one that moves while it runs is asked of every row, and no index answers it.
 */
export const areWindowsOld = (): Fragment =>
  fragment`exists (select from rate_window where started_at < statement_timestamp() - interval '2 days')`
