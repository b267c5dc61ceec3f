/**
 * Accounts of which a FIX broker did not say what they hold, although it says so of others. They are asked after all
 * others, a few at once and seldom, so that nobody waits for them; whoever was asked in vain twice is told to the
 * operator.
 */
import { minute } from '../../../domain/time.ts'

/** How long an account rests that was asked in vain twice. */
const restMs = 10 * minute
const inVain = 2

interface Untold {
  /** Times in a row that it was not told while others were. */
  readonly failures: number
  /** On the steady clock. */
  readonly askedAt: number
}

/** Remembers them as long as the worker lives. */
export class UntoldAccounts {
  readonly #untold = new Map<number, Untold>()

  /** The accounts to ask now, in their turn: of those that are in trouble `few` at most. */
  inTurn<Account extends { readonly id: number }>(
    accounts: readonly Account[],
    few: number,
    now: number,
  ): Account[] {
    const of = ({ id }: Account): Untold | undefined => this.#untold.get(id)
    const askedAt = (one: Account): number => of(one)?.askedAt ?? Number.NEGATIVE_INFINITY
    const byTurn = (one: Account, other: Account): number =>
      askedAt(one) === askedAt(other) ? one.id - other.id : askedAt(one) - askedAt(other)
    const isInTrouble = (one: Account): boolean => (of(one)?.failures ?? 0) > 0
    const isRested = (one: Account): boolean => !this.#isInVain(one.id) || now - askedAt(one) >= restMs
    const troubled = accounts.filter((one) => isInTrouble(one) && isRested(one))
    return [
      ...accounts.filter((one) => !isInTrouble(one)).sort(byTurn),
      ...troubled.sort(byTurn).slice(0, few),
    ]
  }

  /** It was told. */
  tell(accountId: number): void {
    this.#untold.delete(accountId)
  }

  /**
   * It was asked and not told; `isAlone` where the broker said something of others, or of it. Answers whether that is
   * for the operator.
   */
  miss(accountId: number, isAlone: boolean, now: number): boolean {
    const failures = (this.#untold.get(accountId)?.failures ?? 0) + (isAlone ? 1 : 0)
    this.#untold.set(accountId, { failures, askedAt: now })
    return this.#isInVain(accountId)
  }

  #isInVain(accountId: number): boolean {
    return (this.#untold.get(accountId)?.failures ?? 0) >= inVain
  }
}
