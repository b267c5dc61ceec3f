/** What a broker trades at all: an order in anything else would only be refused. */
import type { SecurityType } from '../codes.ts'

/** Classes and the currency of a broker's market. */
export interface Trades {
  readonly securityTypes: readonly SecurityType[]
  readonly currency: string
}

/** Whether it trades an instrument; one that says nothing of what it trades is sent everything. */
export const isTradedAt = (
  trades: Trades | null,
  { securityType, currency }: { readonly securityType: SecurityType; readonly currency: string },
): boolean => trades === null || (trades.currency === currency && trades.securityTypes.includes(securityType))
