/** Dividends, splits and delistings, and the settlement values of options that settle in the morning and of stocks. */
import { enterActions } from '../../execution/orders/enter-actions.ts'
import { enterDelistings } from '../../execution/orders/enter-delistings.ts'
import { type DoorCall, post, Unserved } from '../call.ts'
import { aDate, aNumber, aPositive, aText, choice, list, maybe, object } from '../read.ts'
import { findInstruments } from './market.ts'

const Action = object({
  kind: choice('dividend', 'split', 'settlement', 'delisting'),
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
  const lines = wanted.map((action, place) => ({
    ...action,
    place,
    day: action.date,
    symbol: found[place]?.symbol ?? '',
  }))
  const delistings = lines.filter(({ kind }) => kind === 'delisting')
  const actions = lines.flatMap(({ kind, ...action }) => (kind === 'delisting' ? [] : [{ kind, ...action }]))
  const ended = await enterDelistings(door.work, delistings)
  const booked = await enterActions(door.work, actions)
  for (const [entered, { faults }] of [
    [delistings, ended],
    [actions, booked],
  ] as const)
    for (const { place, says } of faults) throw new Unserved(`[${entered[place]?.place}]`, says)
})

export const corporateCalls: readonly DoorCall[] = [corporateActions]
