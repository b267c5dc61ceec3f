/** Fill simulation over plain JSON. */
import { dec } from '../../../src/domain/decimal.ts'
import { volumeShareSlippage } from '../../../src/domain/orders/slippage.ts'
import { fillBars } from './fill-bars.ts'
import { fillQuotes } from './fill-quotes.ts'
import { type Num, optional, print } from './numbers.ts'
import type { KernelOp } from './types.ts'

interface VolumeShareInput {
  price: Num
  quantity: Num
  barVolume?: Num | null
  volumeLimit?: Num | null
  priceImpact?: Num | null
  isForex?: boolean
}

const volumeShare = (input: VolumeShareInput) => ({
  slippage: print(
    volumeShareSlippage({
      price: dec(input.price),
      quantity: dec(input.quantity),
      barVolume: optional(input.barVolume),
      volumeLimit: dec(input.volumeLimit ?? '0.025'),
      priceImpact: dec(input.priceImpact ?? '0.1'),
      isForex: input.isForex ?? false,
    }),
  ),
})

export const fillOps: Record<string, KernelOp> = {
  'fills.quotes': fillQuotes,
  'fills.bars': fillBars,
  'fills.volumeShareSlippage': volumeShare,
}
