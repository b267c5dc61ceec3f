/** By what the secrets of an installation are known again, so that nobody works on with others unawares. */
import type { Sql } from '../database/sql.ts'

/** Marks by the names of their secrets. */
export type SecretMarks = ReadonlyMap<string, Buffer>

/** Enters the marks of names that have none yet. */
export const enterSecretMarks = (sql: Sql, marks: SecretMarks): Promise<number> =>
  sql.run`
    insert into secret_mark (name, mark)
    select * from unnest(${[...marks.keys()]}::text[], ${[...marks.values()]}::bytea[])
    on conflict (name) do nothing`

/** The names whose secret is another one than the database was used with, or is missing while something is wrapped by it. */
export async function listForeignSecrets(sql: Sql, marks: SecretMarks): Promise<string[]> {
  const rows = await sql.rows<{ name: string }>`
    select name from secret_mark
    left join unnest(${[...marks.keys()]}::text[], ${[...marks.values()]}::bytea[]) as ours (name, mark) using (name)
    where secret_mark.mark <> ours.mark or ours.mark is null and name in (
      select 'key-ring ' || key_id from account_credential
      union all
      select 'key-ring ' || key_id from webhook_secret)
    order by name`
  return rows.map(({ name }) => name)
}

/** From now on others are known: what the old ones kept stays shut. */
export const forgetSecretMarks = (sql: Sql): Promise<number> => sql.run`delete from secret_mark`
