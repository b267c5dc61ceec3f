/** Approvals that sites' admins give to accounts, over HTTP. */
import { describe, expect, test } from 'vitest'
import type { HostName, OperationName } from '../../src/contract/index.ts'
import { syncGroups } from '../../src/domain/mirror/sync-groups.ts'
import { fragment, identifier, join } from '../../src/storage/database/sql.ts'
import { type Answer, resultsOf, told } from '../support/http.ts'
import { buildTown, type CitizenName, holderAccount } from './support/town.ts'

const town = await buildTown()
const { people, strategyId, sites } = town
const { personId } = people.holder
await town.door('/accounts', [{ account: 'U101', personId, cash: 1 }])
const own = { Account: holderAccount, PersonId: personId }
const as = (who: CitizenName, operation: OperationName, params: object, host?: HostName): Promise<Answer> =>
  town.ask(operation, params, { key: people[who].key, ...(host && { host }) })

describe('approvals of accounts', () => {
  const approval = { Account: 'U101', PersonId: personId, BrokerId: 1, IsCFD: true }
  const foreign = (who: CitizenName) => ({ ...approval, PersonId: people[who].personId })
  const geo = (operation: OperationName, params: object, who: CitizenName = 'northAdmin') =>
    as(who, operation, params, 'Geo')
  const pending = async () =>
    resultsOf<{ Account: string; Status: string }>(await geo('GetPendingAccounts', {})).map(
      ({ Account, Status }) => `${Account} ${Status}`,
    )

  test('an account waits until it is approved, and is declined when that is withdrawn', async () => {
    expect(await pending()).toEqual(['U101 Pending'])
    const approved = await geo('ApprovedAutotradeAccount', approval)
    const row = {
      Account: 'U101',
      PersonId: personId,
      BrokerId: 1,
      IsCFD: true,
      IsDeleted: false,
      WhiteLabelSiteId: sites.west,
      GeoSite: 'north',
    }
    expect(resultsOf(approved)).toMatchObject([row])
    expect(resultsOf(await geo('ApprovedAutotradeAccount', approval))).toEqual(resultsOf(approved))
    expect(await pending()).toEqual([])
    const withdrawn = await geo('DeleteApprovedAutotradeAccount', { Account: 'U101' })
    expect(resultsOf(withdrawn)).toMatchObject([{ ...row, IsDeleted: true }])
    expect(await pending()).toEqual(['U101 Declined'])
    expect(told(await geo('DeleteApprovedAutotradeAccount', { Account: 'U101' }))).toEqual([
      404,
      '2013 Account',
    ])
  })

  test('what stands is shown to its holder and to the admin who searches people, with who approved it', async () => {
    const shown = async () => [
      resultsOf<{ ApprovedAccounts: object[] }>(await as('holder', 'GetProfile', {}))[0]?.ApprovedAccounts,
      resultsOf<{ ApprovedAccounts: object[] }>(
        await as('westAdmin', 'SearchProfiles', { PersonId: personId }),
      )[0]?.ApprovedAccounts,
    ]
    expect(await shown()).toEqual([[], []])
    await geo('ApprovedAutotradeAccount', approval)
    await geo('ApprovedBrokerTransmitAccount', approval)
    const given = { PersonId: personId, AddedDate: '2024-03-12T14:00:00Z', Account: 'U101', BrokerId: 1 }
    const AddedByPersonId = people.northAdmin.personId
    const rows = [0, 1].map((ConnectionType) => ({ ...given, ConnectionType, AddedByPersonId }))
    expect(await shown()).toEqual([rows, rows])
    await geo('DeleteApprovedAutotradeAccount', { Account: 'U101' })
    expect(await shown()).toEqual([rows.slice(1), rows.slice(1)])
    await geo('DeleteApprovedBrokerTransmitAccount', { Account: 'U101' })
  })

  test('one that stands keeps who gave it, as it keeps when; one that is given anew has both anew', async () => {
    const later = { ...approval, Account: 'U102' }
    const given = async () => {
      const [holder] = resultsOf<{ ApprovedAccounts: object[] }>(await as('holder', 'GetProfile', {}))
      return holder?.ApprovedAccounts
    }
    const moment = (AddedDate: string, who: CitizenName) => [
      { Account: 'U102', AddedDate, AddedByPersonId: people[who].personId },
    ]
    await geo('ApprovedAutotradeAccount', later)
    await town.door('/clock', { now: '2024-03-12T14:00:10Z' })
    await geo('ApprovedAutotradeAccount', later, 'operator')
    expect(await given()).toMatchObject(moment('2024-03-12T14:00:00Z', 'northAdmin'))
    await geo('DeleteApprovedAutotradeAccount', { Account: 'U102' })
    await geo('ApprovedAutotradeAccount', later, 'operator')
    expect(await given()).toMatchObject(moment('2024-03-12T14:00:10Z', 'operator'))
    await geo('DeleteApprovedAutotradeAccount', { Account: 'U102' })
  })

  /** Passes of AutoSync, of which the settings tell too. */
  const forgotten = join(
    syncGroups.map((group) => fragment`${identifier(`last_sync_${group}`)} = null`),
    ', ',
  )
  test('its settings change when an approval is withdrawn and when it is given again', async () => {
    const mine = { ...approval, Account: holderAccount }
    await geo('ApprovedAutotradeAccount', mine)
    const asked = async () => {
      const { write } = town.platform.db
      await write.run`update account set settings_changed_at = settings_changed_at - interval '1 hour'`
      await write.run`update setup set changed_at = changed_at - interval '1 hour', ${forgotten}`
      const { headers } = await as('holder', 'GetAutotradeSettings', own)
      const since = { 'if-modified-since': headers['last-modified'] }
      const options = { key: people.holder.key, headers: since }
      return () => town.ask('GetAutotradeSettings', own, options)
    }
    for (const [change, isApproved] of [
      ['DeleteApprovedAutotradeAccount', false],
      ['ApprovedAutotradeAccount', true],
    ] as const) {
      const askAgain = await asked()
      expect((await askAgain()).status).toBe(304)
      await geo(change, mine)
      expect(resultsOf(await askAgain())).toMatchObject([{ Approved: isApproved }])
    }
  })

  test.each<[string, string, CitizenName, (number | string)[]]>([
    ['of another region', 'U101', 'southAdmin', [403, '1002 Account']],
    ['that does not exist', 'NONE', 'southAdmin', [403, '1002 Account']],
    ['of another region, to the operator', 'U101', 'operator', [404, '2013 Account']],
    ['that does not exist, to the operator', 'NONE', 'operator', [404, '2013 Account']],
  ])('the approval of an account %s is not withdrawn', async (_, Account, who, expected) => {
    expect(told(await geo('DeleteApprovedAutotradeAccount', { Account }, who))).toEqual(expected)
  })

  test('the approval of an account that a person of the region has not is not there', async () => {
    const none = { Account: 'NONE', PersonId: personId }
    expect(told(await geo('DeleteApprovedAutotradeAccount', none))).toEqual([404, '2013 Account'])
  })

  test('an account that feeds a strategy is not mirrored into', async () => {
    const mirrored = { ...approval, Account: holderAccount }
    expect(told(await geo('ApprovedBrokerTransmitAccount', mirrored))).toEqual([409, '3016 Account'])
    expect((await geo('ApprovedBrokerTransmitAccount', approval)).status).toBe(200)
    const start = { Account: 'U101', PersonId: personId, StrategyId: strategyId, StocksEnabled: true }
    expect(told(await as('holder', 'StartAutotrade', start))).toEqual([409, '3016 Account'])
    const sync = { Account: 'U101', IsAutoSyncEnabled: true }
    expect(told(await as('holder', 'SetAutotradeSettings', sync))).toEqual([409, '3016 IsAutoSyncEnabled'])
    const without = { Account: 'U101', IsAutotradeEnabled: true, IsAutoSyncEnabled: false }
    expect(told(await as('holder', 'SetAutotradeSettings', without))).toEqual([200])
    expect((await geo('DeleteApprovedBrokerTransmitAccount', { Account: 'U101', BrokerId: 1 })).status).toBe(
      200,
    )
    expect((await as('holder', 'SetAutotradeSettings', sync)).status).toBe(200)
  })

  test('AutoSync ends with the approval to feed a strategy, and does not come back by itself', async () => {
    const setup = { Account: 'U101', PersonId: personId, StrategyId: town.lonelyStrategyId }
    await geo('ApprovedBrokerTransmitAccount', approval)
    await geo('DeleteApprovedBrokerTransmitAccount', { Account: 'U101', BrokerId: 1 })
    expect(told(await as('holder', 'StartAutotrade', { ...setup, StocksEnabled: true }))).toEqual([200])
    const asked = { Account: 'U101', PersonId: personId }
    expect(resultsOf(await as('holder', 'GetAutotradeSettings', asked))).toMatchObject([
      { IsSyncEnabled: false, SyncDisabledReason: 'BrokerTransmit' },
    ])
    await as('holder', 'StopAutotrade', setup)
  })

  test.each<[string, object, CitizenName, (number | string)[]]>([
    ['somebody of another region', approval, 'southAdmin', [403, '1002 PersonId']],
    ['nobody', { ...approval, PersonId: 999 }, 'operator', [404, '2013 PersonId']],
    ['a broker that is not there', { ...approval, BrokerId: 99 }, 'northAdmin', [404, '2013 BrokerId']],
    ["somebody else's account", { ...approval, PersonId: 1 }, 'operator', [409, '3016 PersonId']],
    ['the account of a neighbour', foreign('neighbour'), 'northAdmin', [409, '3016 PersonId']],
    ['the account of another region', foreign('eastAdmin'), 'southAdmin', [403, '1002 Account']],
    [
      'a person of another site',
      { ...approval, WhiteLabelSiteId: sites.east },
      'operator',
      [400, '1128 WhiteLabelSiteId'],
    ],
    ['no broker', { ...approval, BrokerId: undefined }, 'northAdmin', [400, '1102 BrokerId']],
  ])('%s is refused', async (_, params, who, expected) => {
    expect(told(await geo('ApprovedAutotradeAccount', params, who))).toEqual(expected)
  })
})
