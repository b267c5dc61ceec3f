/**
 * Two writes to one account at the same moment: both have read what was there before either may change it. What they
 * are told, and what is left, is what the one after the other would have come to.
 */
import { beforeEach, expect, test } from 'vitest'
import type { OperationName } from '../../src/contract/index.ts'
import { type Answer, call, faultsOf } from '../support/http.ts'
import { holdLocks, untilWaiting } from '../support/locks.ts'
import { apple, buildTown } from './support/town.ts'

const { people, platform, strategyId, lonelyStrategyId, door, ask } = await buildTown()
const { db } = platform
const { personId, key } = people.neighbour

const told = (answer: Answer) => [answer.status, ...faultsOf(answer)].join(' ')
let count = 0
let account = ''
beforeEach(async () => {
  account = `S${++count}`
  await door('/accounts', [{ account, personId, cash: 50_000 }])
  expect(told(await deeds.start())).toBe('200')
})

const of = (operation: OperationName, more: object) => () =>
  ask(operation, { Account: account, PersonId: personId, ...more }, { key })
const terms = { StrategyId: strategyId, StocksEnabled: true }
const closing = {
  OrderType: '2',
  Limit: 110,
  Side: '2',
  OrderQuantity: 100,
  TIF: '1',
  PlatformSymbol: apple,
  StrategyId: strategyId,
}
const deeds = {
  start: of('StartAutotrade', { ...terms, ScalingPercentage: 50 }),
  startAnew: of('StartAutotrade', { ...terms, DoNotJoinCurrentSystemPositions: true }),
  startOther: of('StartAutotrade', { StrategyId: lonelyStrategyId, StocksEnabled: true }),
  stop: of('StopAutotrade', { StrategyId: strategyId }),
  stopAndLeave: of('StopAutotrade', { StrategyId: strategyId, LeavePositionsOpen: true }),
  open: of('SyncPositionsToOpen', { StrategyId: strategyId }),
  openAll: of('SyncPositionsToOpen', {}),
  switchOff: of('SetAutotradeSettings', { IsAutotradeEnabled: false }),
  close: of('NewAutotradeOrder', { Order: closing }),
}
type Deed = keyof typeof deeds

const notFollowed = '404 2013 StrategyId'

test.each<[Deed, Deed, string, string]>([
  ['stop', 'open', '200', notFollowed],
  ['stop', 'openAll', '200', notFollowed],
  ['open', 'stop', '200', '200'],
  ['stopAndLeave', 'stop', '200', notFollowed],
  ['stopAndLeave', 'stopAndLeave', '200', notFollowed],
  ['stop', 'start', '200', '200'],
  ['start', 'startAnew', '200', '400 1128 DoNotJoinCurrentSystemPositions'],
  ['stopAndLeave', 'startAnew', '200', '200'],
  ['startOther', 'startOther', '200', '200'],
  ['switchOff', 'close', '200', '409 3016 Account'],
])('%s, then %s: %s, %s', async (first, second, ...answers) => {
  const letGo = await holdLocks(db, async (tx) => {
    await tx.run`select from strategy where id in (${strategyId}, ${lonelyStrategyId}) order by id for no key update`
    await tx.run`select from account where account = ${account} for no key update`
  })
  const one = deeds[first]()
  await untilWaiting(db.read)
  const other = deeds[second]()
  await untilWaiting(db.read, 2)
  await letGo()
  expect([told(await one), told(await other)]).toEqual(answers)
  const setups = await db.read.rows<{ id: number }>`
    select strategy_id as id from setup where stopped_at is null
      and account_id = (select id from account where account = ${account})`
  expect(new Set(setups.map(({ id }) => id)).size).toBe(setups.length)
  expect((await call(platform.url, '/test/audit')).json).toEqual({ violations: [] })
})
