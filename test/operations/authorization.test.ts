/** Keys that open nothing, in the words of each fault, and what a caller is told of what he may not see. */
import { describe, expect, test } from 'vitest'
import { hostNames, type OperationName, routesOf } from '../../src/contract/index.ts'
import { call, faultsOf } from '../support/http.ts'
import { apple, buildTown, type CitizenName, holderAccount, oneAtLimit } from './support/town.ts'

const town = await buildTown()
const { people, strategyId } = town
const everybody = Object.keys(people) as CitizenName[]

const order = {
  StrategyId: strategyId,
  ...oneAtLimit,
  PlatformSymbol: apple,
}

describe('no operation answers without a living key', () => {
  const routes = hostNames.flatMap((host) =>
    routesOf(host, 'native').map((route) => ({ ...route, path: `/${host.toLowerCase()}${route.path}` })),
  )
  const wrongKeys: [string, string | undefined, string][] = [
    ['no key', undefined, '2014 APIKey'],
    ['no key at all', 'ls_test_x_y_z', '2014 APIKey'],
    ['an expired key', town.expiredKey, '2015 APIKey'],
    ['a revoked key', town.revokedKey, '2015 APIKey'],
    ['a key with another end', `${people.owner.key.slice(0, -1)}#`, '2014 APIKey'],
  ]

  test.each(wrongKeys)('%s', async (_, key, fault) => {
    const wrong: string[] = []
    for (const { method, path } of routes) {
      const body = method === 'POST' || method === 'PUT' ? '{}' : undefined
      const answer = await call(town.platform.url, path, { method, body, key })
      const isRight = answer.status === 401 && faultsOf(answer).join() === fault
      if (!isRight) wrong.push(`${method} ${path}: ${answer.status} ${answer.text}`)
    }
    expect(wrong).toEqual([])
    expect(routes.length).toBeGreaterThan(150)
  })
})

describe('what a caller may not see', () => {
  const foreign: [string, OperationName, object, string][] = [
    [
      'a strategy that is not there',
      'NewStrategyOrder',
      { Order: { ...order, StrategyId: 999 } },
      'Order.StrategyId',
    ],
    ['orders of no strategy', 'GetStrategyActiveOrders', { StrategyIds: 999 }, 'StrategyIds'],
    [
      'one strategy of several',
      'GetStrategyOpenPositions',
      { StrategyIds: `${town.lonelyStrategyId},${strategyId}` },
      'StrategyIds',
    ],
    ['a signal that is not there', 'GetStrategyHistoricalOrders', { SignalId: 999 }, 'SignalId'],
    ['settings of nobody', 'GetAutotradeSettings', { PersonId: 999 }, 'PersonId'],
    ['an account that is not there', 'GetAutoTradeOpenPositions', { Account: 'NONE' }, 'Account'],
    [
      'his own name with a foreign account',
      'GetAutotradeActiveOrders',
      { PersonId: people.stranger.personId, Account: holderAccount },
      'Account',
    ],
  ]
  test.each(foreign)(
    '%s is forbidden like a foreign one; the operator learns that there is none',
    async (_, operation, params, field) => {
      const denied = await town.ask(operation, params, { key: people.stranger.key })
      expect([denied.status, faultsOf(denied)]).toEqual([403, [`1002 ${field}`]])
      const answer = await town.ask(operation, params, { key: people.operator.key })
      expect([200, 404]).toContain(answer.status)
    },
  )

  test('an account is nobody’s but its holder’s, also to those who may see both', async () => {
    const { holder, neighbour, westAdmin, operator } = people
    const asked = ({ personId: PersonId }: { personId: number }) =>
      Promise.all(
        [westAdmin, operator].map(async ({ key }) => {
          const answer = await town.ask(
            'GetAutotradeActiveOrders',
            { PersonId, Account: holderAccount },
            { key },
          )
          return [answer.status, ...faultsOf(answer)]
        }),
      )
    expect(await asked(holder)).toEqual([[200], [200]])
    expect(await asked(neighbour)).toEqual([
      [403, '1002 Account'],
      [404, '2013 Account'],
    ])
  })

  test('a region is no white-label site and a white-label site no region, whoever is asked about', async () => {
    const { northAdmin, operator } = people
    const asked = async (operation: OperationName, params: object) =>
      Promise.all(
        [northAdmin, operator].map(
          async ({ key }) => (await town.ask(operation, params, { key, host: 'Geo' })).status,
        ),
      )
    expect(await asked('SearchProfiles', { WhiteLabelSiteId: town.sites.west })).toEqual([200, 200])
    expect(await asked('SearchProfiles', { WhiteLabelSiteId: town.sites.north })).toEqual([403, 404])
    expect(await asked('GetGeoSiteUsers', { GeoSite: 'north' })).toEqual([200, 200])
    expect(await asked('GetGeoSiteUsers', { GeoSite: 'west' })).toEqual([403, 404])
  })

  test('the rows of a listing are cut to the caller', async () => {
    const seen = async (citizen: CitizenName) => {
      const answer = await town.ask('GetAutotraders', {}, { key: people[citizen].key })
      return (answer.json as { Results: unknown[] }).Results.length
    }
    const counts = await Promise.all(everybody.map(async (citizen) => [citizen, await seen(citizen)]))
    expect(Object.fromEntries(counts)).toEqual({
      owner: 1,
      holder: 1,
      westAdmin: 1,
      northAdmin: 1,
      operator: 1,
      neighbour: 0,
      stranger: 0,
      eastAdmin: 0,
      southAdmin: 0,
    })
  })
})
