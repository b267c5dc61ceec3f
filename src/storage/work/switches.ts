/** Switches of the platform: a name and a value, changed by the operator and heard by every process. */
import type { Sql } from '../database/sql.ts'
import { instant } from '../database/wire.ts'

export const switchChannel = 'switches'

/** All switches by name. */
export async function listSwitches(sql: Sql): Promise<Map<string, unknown>> {
  const rows = await sql.rows<{ name: string; value: unknown }>`select name, value from platform_switch`
  return new Map(rows.map((row) => [row.name, row.value]))
}

/** Sets a switch to a JSON value and announces it. */
export async function setSwitch(sql: Sql, name: string, value: unknown, now: number): Promise<void> {
  await sql.run`
    with changed as (
      insert into platform_switch (name, value, changed_at)
      values (${name}, ${JSON.stringify(value)}::jsonb, ${instant(now)})
      on conflict (name) do update set value = excluded.value, changed_at = excluded.changed_at
      returning name
    )
    select pg_notify(${switchChannel}, name) from changed`
}
