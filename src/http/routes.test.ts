import { describe, expect, test } from 'vitest'
import { createRouter } from './routes.ts'

const native = { dialect: 'native' } as const
const find = createRouter({ Gen: native, Geo: native, WL: { dialect: 'compat' } })
const orders = (prefix: string) => find('GET', undefined, `${prefix}/Strategies/GetStrategyActiveOrders`)!

describe('query strings', () => {
  const { readQuery } = orders('/gen')

  test('in the same words mean the same thing, for everybody and for ever', () => {
    const input = readQuery('StrategyIds=1&StrategyIds=2')
    expect(input).toEqual({ params: { StrategyIds: [1, 2] } })
    expect(readQuery('StrategyIds=1&StrategyIds=2')).toBe(input)
    expect(readQuery('StrategyIds=2&StrategyIds=1')).not.toEqual(input)
    const { params } = input as { params: { StrategyIds: number[] } }
    expect(() => params.StrategyIds.push(3)).toThrow(TypeError)
  })

  test('keep their faults', () => {
    const faulty = readQuery('StrategyId=1')
    expect(faulty).toMatchObject({ faults: [{}, {}] })
    expect(readQuery('StrategyId=1')).toEqual(faulty)
    expect(readQuery('StrategyIds=%')).toBeUndefined()
  })

  test('mean what the route makes of them', () => {
    expect(orders('/wl').readQuery('strategyids=1')).toHaveProperty('params')
    expect(readQuery('strategyids=1')).toHaveProperty('faults')
  })

  test('are remembered in a bounded number', () => {
    const [kept] = [readQuery('StrategyIds=5')]
    for (let id = 0; id < 1000; id++) readQuery(`StrategyIds=${id}`)
    expect(readQuery('StrategyIds=5')).toEqual(kept)
    expect(readQuery('StrategyIds=5')).not.toBe(kept)
    const long = `StrategyIds=${'1,'.repeat(300)}1`
    expect(readQuery(long)).not.toBe(readQuery(long))
  })
})
