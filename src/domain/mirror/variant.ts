/**
 * Variants of a strategy: scaled copies of it, of some classes only. What one should hold is the target function of
 * mirroring with nothing in its way; since when it holds something else is told by the fills of both, read backwards.
 */
import type { SecurityType } from '../codes.ts'
import { type Decimal, zero } from '../decimal.ts'
import type { Instant } from '../time.ts'
import { type MirrorSettings, target, unlimited } from './mirror-target.ts'

export interface VariantTerms {
  /** Percent of the parent's quantities, 1..1000. */
  readonly scalingPercentage: Decimal
  readonly securityTypes: readonly SecurityType[]
}

/** A variant's settings for its classes: no caps, nothing forbidden. */
export const variantSettings = ({ scalingPercentage }: VariantTerms): MirrorSettings => ({
  ...unlimited,
  scalingPercentage,
})

/** The signed quantity that a variant should hold while its parent holds `parentQuantity`. */
export function expectedQuantity(
  terms: VariantTerms,
  assetClass: SecurityType,
  parentQuantity: Decimal,
): Decimal {
  if (!terms.securityTypes.includes(assetClass)) return zero
  const sizing = { assetClass, settings: variantSettings(terms), held: zero, referencePrice: null }
  return target(parentQuantity, sizing).quantity
}

/** A fill of the parent or of the variant in one symbol, signed. */
export interface FamilyFill {
  readonly isParent: boolean
  readonly quantity: Decimal
  readonly at: Instant
}

/** What a split added to both positions in one symbol at once; the fractions that it cut off are fills beside it. */
export interface FamilySplit {
  readonly parentChange: Decimal
  readonly variantChange: Decimal
  readonly at: Instant
}

/**
 * When two positions that differ began to do so: fills and splits are taken back, the newest first and a split after the
 * fills of its moment, until the positions agree. What differed from the beginning differs since `beginning`.
 */
export function differsSince(
  terms: VariantTerms,
  assetClass: SecurityType,
  held: { readonly parent: Decimal; readonly variant: Decimal },
  past: readonly (FamilyFill | FamilySplit)[],
  beginning: Instant,
): Instant {
  let { parent, variant } = held
  for (const event of past) {
    if ('parentChange' in event) {
      parent = parent.minus(event.parentChange)
      variant = variant.minus(event.variantChange)
    } else if (event.isParent) parent = parent.minus(event.quantity)
    else variant = variant.minus(event.quantity)
    if (expectedQuantity(terms, assetClass, parent).equals(variant)) return event.at
  }
  return beginning
}
