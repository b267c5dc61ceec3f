/** The words of an order and of its state, both ways. */
import type { OrderRow } from './stage.ts'

export const states: Readonly<Record<string, string>> = {
  pending: 'A',
  working: '0',
  'partially filled': '1',
  filled: '2',
  canceled: '4',
  replaced: '5',
  'pending cancel': '6',
  rejected: '8',
  expired: 'C',
}

const stateNames = new Map(Object.entries(states).map(([name, code]) => [code, name]))

export const numberOf = (text: string | undefined): number => Number((text ?? '').replaceAll(',', ''))

/**
 * The members of an order that stand behind side, quantity and symbol: `limit 5010 gtc`, `market`, `stop 9 close`,
 * `market target 5020 loss 4990`, `limit 9 after 1`, which names its parent by its label.
 */
export function readTerms(
  text: string,
  signalIdOf: (label: string) => number = Number,
): Record<string, unknown> {
  const members: Record<string, unknown> = {}
  const words = text.split(/\s+/).filter((word) => word !== '')
  for (let place = 0; place < words.length; place += 1) {
    const word = words[place] as string
    if (word === 'market') members.OrderType = '1'
    else if (word === 'limit' || word === 'stop') {
      members.OrderType = word === 'limit' ? '2' : '3'
      members[word === 'limit' ? 'Limit' : 'Stop'] = numberOf(words[++place])
    } else if (word === 'day' || word === 'gtc') members.TIF = word === 'day' ? '0' : '1'
    else if (word === 'open' || word === 'close') members.OpenClose = word === 'open' ? 'O' : 'C'
    else if (word === 'unsynced') members.DoNotSyncToOpen = true
    else if (word === 'target') members.ProfitTarget = numberOf(words[++place])
    else if (word === 'loss') members.StopLoss = numberOf(words[++place])
    else if (word === 'apart') members.DoNotCreateOCAGroup = true
    else if (word === 'until') members.ParkedUntilDate = words[++place]
    else if (word === 'after') members.ParentSignalId = signalIdOf(words[++place] ?? '')
    else throw new Error(`an order has no term "${word}"`)
  }
  return members
}

/** The terms of a row that the story states, in the story's words. */
export function toldTerms(row: OrderRow, stated: Record<string, unknown>): string {
  const price = row.OrderType === '2' ? ` ${row.Limit}` : row.OrderType === '3' ? ` ${row.Stop}` : ''
  const type = { '1': 'market', '2': 'limit', '3': 'stop' }[row.OrderType]
  return [
    ...('OrderType' in stated ? [`${type}${price}`] : []),
    ...('TIF' in stated ? [row.TIF === '0' ? 'day' : 'gtc'] : []),
    ...('OpenClose' in stated ? [row.OpenClose === 'O' ? 'open' : 'close'] : []),
  ].join(' ')
}

/** A row's state with as much detail as the story states. */
export function toldState(
  row: OrderRow,
  stated: { filled?: string | undefined; price?: string | undefined; text?: string | undefined },
): string {
  return [
    stateNames.get(row.OrderStatus) ?? row.OrderStatus,
    ...(stated.filled === undefined ? [] : [`${row.FilledQuantity} of ${row.OrderQuantity}`]),
    ...(stated.price === undefined ? [] : [`@ ${row.AvgFillPrice}`]),
    ...(stated.text === undefined ? [] : [`because "${row.RejectMessage ?? row.Info ?? ''}"`]),
  ].join(' ')
}

export const sideOf = (text: string | undefined): string => (text === 'buy' ? '1' : '2')
export const sideName = (side: string): string => (side === '1' ? 'buy' : 'sell')
