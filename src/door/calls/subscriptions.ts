/** Who subscribes to what, opened as the interface opens it. */
import { isRefused } from '../../operations/context.ts'
import { subscribe } from '../../operations/subscribe.ts'
import { savePaymentMethod } from '../../storage/billing/payment-methods.ts'
import { simulatedMethod } from '../../storage/billing/simulated-payments.ts'
import { lockStrategies } from '../../storage/orders/signals.ts'
import { type DoorCall, post, Unserved } from '../call.ts'
import { aMoment, anId, aText, choice, list, maybe, object } from '../read.ts'
import { knownPersons } from '../rows.ts'

const Subscription = object({
  personId: anId,
  strategyId: anId,
  kind: choice('paid', 'simulated', 'paper'),
  start: maybe(aMoment),
})

const subscriptions = post('/subscriptions', list(Subscription), (door, wanted) =>
  door.work.db.transaction(async (tx) => {
    const strategies = await lockStrategies(
      tx,
      wanted.map(({ strategyId }) => strategyId),
    )
    const persons = await knownPersons(
      tx,
      wanted.map(({ personId }) => personId),
    )
    const now = door.clock.now()
    const answer: { subscriptionId: number }[] = []
    for (const [place, { personId, strategyId, kind, start = now }] of wanted.entries()) {
      if (!persons.has(personId)) throw new Unserved(`[${place}].personId`, 'There is no such person')
      if (!strategies.has(strategyId))
        throw new Unserved(`[${place}].strategyId`, 'There is no such strategy')
      if (start > now) throw new Unserved(`[${place}].start`, 'A subscription has begun')
      const opened = await subscribe(tx, { personId, strategyId, kind, at: start })
      if (isRefused(opened)) throw new Unserved(`[${place}]`, opened.message ?? opened.refused)
      answer.push({ subscriptionId: opened })
    }
    return answer
  }),
)

/** Why a person's payment method declines from now on; without a reason it pays. */
const PaymentMethod = object({ personId: anId, declines: maybe(aText) })

const paymentMethods = post('/payment-methods', list(PaymentMethod), (door, wanted) =>
  door.work.db.transaction(async (tx) => {
    for (const { personId, declines } of wanted)
      await savePaymentMethod(tx, { ...simulatedMethod(personId, declines ?? null), at: door.clock.now() })
  }),
)

export const subscriptionCalls: readonly DoorCall[] = [subscriptions, paymentMethods]
