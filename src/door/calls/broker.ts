/** What the scripted broker does on command: its own acts, and how it answers from now on. */
import type { Side } from '../../domain/codes.ts'
import { ourOrderKey } from '../../execution/own-orders.ts'
import { findOwnOrders } from '../../storage/brokers/sent-orders.ts'
import { type DoorCall, type DoorState, post, Unserved } from '../call.ts'
import {
  aBoolean,
  anyText,
  aPositive,
  aSize,
  aText,
  choice,
  maybe,
  object,
  oneOf,
  withDefault,
  word,
} from '../read.ts'
import { hasPaperOrder, listNumberedAccounts, type NamedOrder, releaseClaims } from '../rows.ts'
import { findInstruments } from './market.ts'

const aSide = word<Side>({ '1': '1', '2': '2', buy: '1', sell: '2' })

const Command = oneOf({
  execution: object({
    account: aText,
    symbol: aText,
    side: aSide,
    qty: aPositive,
    px: aSize,
    clientOrderId: maybe(anyText),
  }),
  reject: object({ account: aText, text: anyText }),
  partial: object({ account: aText, qty: aSize }),
  hold: aBoolean,
  down: aBoolean,
  duplicate: aText,
  bust: aText,
  delink: aText,
  restrict: object({
    account: aText,
    kind: choice('marginCall', 'patternDayTrader', 'restriction'),
    text: withDefault(anyText, ''),
  }),
})

const broker = post('/broker', Command, async (door, command) => {
  const { controls, work } = door
  const { execution, reject, partial, hold, down, duplicate, bust, delink, restrict } = command
  if (execution) return { execId: await execute(door, execution) }
  if (reject)
    controls.reject((await accountOf(door, 'reject.account', reject.account)).accountId, reject.text)
  if (partial)
    controls.partial(
      (await accountOf(door, 'partial.account', partial.account)).accountId,
      partial.qty.toFixed(),
    )
  if (hold !== undefined) controls.hold(hold)
  if (down !== undefined) controls.down(down)
  if (duplicate && !(await controls.duplicate(work, duplicate)))
    throw new Unserved('duplicate', `The broker knows no execution ${duplicate}`)
  if (bust && !(await controls.bust(work, bust)))
    throw new Unserved('bust', `The broker knows no execution ${bust}`)
  if (delink)
    await controls.notice(work, { ...(await accountOf(door, 'delink', delink)), kind: 'delink', text: null })
  if (restrict) {
    const { account, kind, text } = restrict
    await controls.notice(work, {
      ...(await accountOf(door, 'restrict.account', account)),
      kind,
      text: text || null,
    })
  }
  await releaseClaims(work.db.write)
  return undefined
})

async function accountOf(door: DoorState, path: string, account: string) {
  const [found] = await listNumberedAccounts(door.work.db.read, account)
  if (!found) throw new Unserved(path, `There is no account ${account}`)
  return found
}

/** Whether the name is that of an order of the platform's that the broker, which trades only what it has, does not have so. */
async function isUnseenOrder({ work }: DoorState, order: NamedOrder): Promise<boolean> {
  const key = ourOrderKey(work.settings.environment, order.clientOrderId)
  if (key === null) return false
  const own = await findOwnOrders(work.db.read, [{ ...key, accountId: order.accountId }])
  return own.size > 0 && !(await hasPaperOrder(work.db.read, order))
}

async function execute(
  door: DoorState,
  wanted: NonNullable<ReturnType<typeof Command>['execution']>,
): Promise<string> {
  const { account, symbol: spelling, side, qty: quantity, px, clientOrderId } = wanted
  const found = await accountOf(door, 'execution.account', account)
  const [instrument] = await findInstruments(door, [spelling], () => 'execution.symbol')
  const { symbol = '' } = instrument ?? {}
  const named = { accountId: found.accountId, clientOrderId: clientOrderId ?? null, symbol, side }
  if (await isUnseenOrder(door, named))
    throw new Unserved(
      'execution.clientOrderId',
      `The broker has received no order ${clientOrderId} of this symbol and side`,
    )
  const execution = { ...found, clientOrderId: clientOrderId ?? null, symbol, side, quantity, px }
  return door.controls.execution(door.work, execution)
}

export const brokerCalls: readonly DoorCall[] = [broker]
