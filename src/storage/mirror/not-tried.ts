/** What AutoSync does not try, as if a broker had refused it already: trading has ended, or there is none at the broker. */
import { contractExpiring } from '../../domain/margin/model-account.ts'
import { cutoffOf, hasExpired } from '../../domain/market/expiration.ts'
import type { Refusal } from '../../domain/mirror/mirror-sync-plan.ts'
import type { SkipCode } from '../../domain/mirror/skip.ts'
import { isTradedAt } from '../../domain/mirror/tradable.ts'
import type { Instant } from '../../domain/time.ts'
import type { SyncInstrumentRow, SyncSetupRow } from './sync-facts.ts'

/** What ends trading as if the broker had refused it already, by symbol. */
export interface TradingEnds {
  /** Futures that may only be closed any more. */
  readonly closing: readonly (readonly [string, Refusal])[]
  /**
   * What is held after its last session waits to be settled, as options that settle in the morning do, or for its owner:
   * no order trades it any more, so none is made.
   */
  readonly ended: readonly (readonly [string, Refusal])[]
}

const onlyCloses: Refusal = { text: contractExpiring, closes: false }
const tradingEnded: Refusal = { text: 'trading has ended', closes: true }

/** Which of these instruments only close at `now`, and which trade no more. */
export const tradingEnds = (instruments: readonly SyncInstrumentRow[], now: Instant): TradingEnds => ({
  closing: instruments
    .filter((row) => (cutoffOf(row) ?? now + 1) <= now)
    .map(({ symbol }) => [symbol, onlyCloses]),
  ended: instruments.filter((row) => hasExpired(row, now)).map(({ symbol }) => [symbol, tradingEnded]),
})

/** What is not tried, by symbol: the stricter word counts. */
export const notTried = (
  rejections: readonly (readonly [string, Refusal])[],
  { closing, ended }: TradingEnds,
): Map<string, Refusal> => new Map([...closing, ...rejections, ...ended])

const notTradable: Refusal = { text: 'NotTradableAtBroker' satisfies SkipCode, closes: true }

/** What the setup's broker does not trade: nothing of it is sent, for the reason that its skips name. */
export function untraded(
  { tradedTypes, tradedCurrency }: SyncSetupRow,
  instruments: Iterable<SyncInstrumentRow>,
): (readonly [string, Refusal])[] {
  if (tradedTypes === null || tradedCurrency === null) return []
  const trades = { securityTypes: tradedTypes, currency: tradedCurrency }
  return [...instruments]
    .filter((instrument) => !isTradedAt(trades, instrument))
    .map(({ symbol }) => [symbol, notTradable] as const)
}
