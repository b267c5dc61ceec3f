/** An index that does not lead to all of its rows. */
import type { Database } from '../../src/storage/database/database.ts'

/** Its rows are in it under keys that nobody looks for any more, as when what sorts text has changed. */
const misled = `
  create function key_of(text) returns text immutable language sql as $$ select $1 $$;
  create index instrument_misled on instrument (key_of(symbol));
  create or replace function key_of(text) returns text immutable language sql as $$ select reverse($1) || '!' $$`

/** Adds an index of instruments that misses those that there are; answers its name. */
export async function misleadIndex(db: Database): Promise<string> {
  await db.transaction((tx) => tx.script(misled))
  return 'instrument_misled'
}
