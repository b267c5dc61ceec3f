/** Which sub-ledgers follow what happens to an instrument without an order: splits, dividends, the ends of contracts. */
import { type Fragment, fragment } from './sql.ts'

/**
 * Those `p` of a setup `s`, and what a stopped setup left open as long as nobody but its orders has traded the
 * instrument in the account: afterwards only the owner knows what became of it.
 */
export const isKept: Fragment = fragment`(s.positions_left_open is not true or not exists (
  select from execution e
  where e.account_id = p.account_id and e.instrument_id = p.instrument_id and e.setup_id is null))`
