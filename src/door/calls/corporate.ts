/** Dividends and splits, and the settlement values of options that settle in the morning. */
import { type EnteredAction, enterActions } from '../../execution/orders/enter-actions.ts'
import { type DoorCall, post, Unserved } from '../call.ts'
import { aDate, aNumber, aPositive, aText, choice, list, maybe, object } from '../read.ts'
import { findInstruments } from './market.ts'

const Action = object({
  kind: choice('dividend', 'split', 'settlement'),
  symbol: aText,
  date: aDate,
  amount: maybe(aNumber),
  new: maybe(aPositive),
  old: maybe(aPositive),
})

const corporateActions = post('/corporate-actions', list(Action), async (door, wanted) => {
  const found = await findInstruments(
    door,
    wanted.map(({ symbol }) => symbol),
  )
  const actions = wanted.map(
    (action, place): EnteredAction => ({ ...action, day: action.date, symbol: found[place]?.symbol ?? '' }),
  )
  const { faults } = await enterActions(door.work, actions)
  const [first] = faults
  if (first) throw new Unserved(`[${first.place}]`, first.says)
})

export const corporateCalls: readonly DoorCall[] = [corporateActions]
