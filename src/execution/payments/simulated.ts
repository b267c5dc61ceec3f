/** The built-in provider: money of the demo and of tests. It answers at once and from its own book. */
import { answerSimulated } from '../../storage/billing/simulated-payments.ts'
import type { PaymentProvider } from './provider.ts'

export const simulatedProvider: PaymentProvider = {
  name: 'simulated',
  pay: ({ db }, charges) => db.transaction((tx) => answerSimulated(tx, charges)),
}
