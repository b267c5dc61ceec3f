/** A split as the accounts' side sees it, and its arithmetic on columns. */
import type { Decimal } from '../../domain/decimal.ts'
import type { SplitRatio } from '../../domain/positions/split.ts'
import type { Instant } from '../../domain/time.ts'
import { type Fragment, fragment } from '../database/sql.ts'

export interface AccountSplit {
  readonly actionId: number
  readonly instrumentId: number
  readonly ratio: SplitRatio
  readonly tick: Decimal
  /** Units multiply; otherwise an option's contract has changed its size and only prices are divided. */
  readonly multiplies: boolean
  /** In old units; null where nobody has ever quoted it. */
  readonly previousClose: Decimal | null
  readonly at: Instant
  /** It was entered when it had taken effect. */
  readonly isLate: boolean
}

/** A quantity in new units. */
export const units = ({ ratio, multiplies }: AccountSplit, quantity: Fragment | string): Fragment =>
  multiplies
    ? fragment`(${named(quantity)} * ${ratio.new}::numeric / ${ratio.old}::numeric)`
    : fragment`(${named(quantity)})`

/** A price, or a value whose quantity stays. */
export const divided = ({ ratio }: AccountSplit, price: Fragment | string): Fragment =>
  fragment`(${named(price)} * ${ratio.old}::numeric / ${ratio.new}::numeric)`

/** The price of an order. */
export const onTick = (split: AccountSplit, price: string): Fragment =>
  fragment`(round(${divided(split, price)} / ${split.tick}::numeric) * ${split.tick}::numeric)`

/** An expression of the program's own words. */
const named = (text: Fragment | string): Fragment =>
  typeof text === 'string' ? { strings: [text], values: [] } : text
