/** What the page on switches says of each is seen on a platform: one that follows, holds, and has an order that rests. */
import { readFileSync } from 'node:fs'
import { expect, test } from 'vitest'
import { seeSoundBooks } from '../scenarios/support/seeing.ts'
import { accountOrders, named, type OrderRow, positionsOf, reset } from '../scenarios/support/stage.ts'
import { curtain, openTheatre } from '../scenarios/support/theatre.ts'
import { codesIn, tablesUnder, textOf } from './page.ts'

const { stage, read } = await openTheatre()
const play = async (...lines: readonly string[]): Promise<void> => {
  for (const text of lines) await read({ file: 'switches', number: 0, text })(stage)
}

const [effects = []] = tablesUnder('switches', 'What each does')

const switches: Readonly<Record<string, string>> = {
  'AutoSync off': 'AutoSync of A1 is switched off',
  'Class off': 'A1 follows S1 at 100% without futures',
  'Closing only': 'closing only of A1 in S1 is switched on',
  'Autotrade off': 'Autotrade of A1 is switched off',
  'Broker restricts it': 'broker restricts A1 by marginCall with "deposit 5000"',
  Stop: 'A1 stops S1',
  'Stop, leaving open': 'A1 stops S1 leaving its positions',
  'Subscription lapsed': 'the subscription of ann to S1 ends',
  'Strategy disabled': 'S1 is switched off',
  'Broker disabled': 'the broker of A1 is switched off',
  'Openings off': 'openings are switched off',
}

const held = async (): Promise<number> => (await positionsOf(stage, 'A1'))[0]?.Quantity ?? 0
const orders = (): Promise<OrderRow[]> => accountOrders(stage, named(stage.accounts, 'A1'))
const isLive = ({ OrderStatus }: OrderRow): boolean => ['A', '0', '1', '6', 'E'].includes(OrderStatus)

/** What becomes of an order of the strategy's, with all the time that repairs take. */
async function fateOf(order: string): Promise<'sent' | 'wait' | 'no'> {
  const known = (await orders()).length
  // A strategy that takes no orders refuses it.
  await play(order).catch((error: Error) => expect(error.message).toContain('409 3016'))
  await play('clock +2m', 'quote ES 5000 / 5000')
  const made = (await orders()).slice(known)
  if (made.length === 0) return 'no'
  return made.some(({ OrderStatus }) => OrderStatus === 'A') ? 'wait' : 'sent'
}

test('all of them are told', () => {
  expect(effects.map(({ Switch }) => Switch)).toEqual(Object.keys(switches))
})

test.each(effects)('$Switch', async (row) => {
  await reset(stage, curtain)
  await play(
    'instrument ES FUT as @ESM24 point value 50 tick 0.25 calendar CME_GLOBEX',
    'strategy S1 capital 1,000,000 by dev',
    'account A1 of ann cash 500,000',
    'A1 follows S1 at 100%',
    'quote ES 5000 / 5000',
    'S1 buy 4 ES market',
    'S1 buy 1 ES limit 4900 gtc',
    switches[row.Switch ?? ''] ?? '',
  )
  const resting = (await orders()).filter(isLive).length > 0 ? 'stay' : 'withdrawn'
  const kept = (await held()) > 0 ? 'kept' : 'closed'
  const opening = await fateOf('S1 buy 1 ES market')
  const closing = await fateOf('S1 sell 2 ES market')
  // The broker executes more than the order that rests was for, or has rested, for.
  const before = await held()
  await play('broker fills 4 of order 2 of A1 @ 4900', 'clock +2m', 'quote ES 5000 / 5000')
  expect({
    Switch: row.Switch,
    'New openings': opening,
    'New closings': closing,
    'Opening orders at the broker': resting,
    'What is held': kept,
    'Too much is sold': (await held()) < before + 4 ? 'yes' : 'no',
  }).toEqual(row)
  await seeSoundBooks(stage)
})

test('which of several a skip names', () => {
  const [, statement = ''] = readFileSync('src/storage/mirror/followers.ts', 'utf8').split('const blockOf = ')
  const order = [...statement.slice(0, statement.indexOf('end`')).matchAll(/codeNumber\('(\w+)'\)/g)]
  const [, sentence = ''] = textOf('switches').split('its skip names the first of these:')
  const [listed = ''] = sentence.split('; then permissions')
  expect(codesIn(listed)).toEqual(order.map(([, code]) => code))
})
