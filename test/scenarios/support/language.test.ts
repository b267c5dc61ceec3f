import { describe, expect, test } from 'vitest'
import { createReader, expectSame, type Given, readScenarios } from './language.ts'

const seen: Given[] = []
const read = createReader<null>([
  {
    says: '<strategy> <side> <quantity> <symbol> <terms>[ -> <outcome>]',
    does: async (_, given) => void seen.push(given),
  },
  { says: '<who> flat[ <symbol>]', does: async () => expectSame('flat', 'long 1 ES') },
  { says: 'quote <symbol> <bid> / <ask>', does: async (_, given) => void seen.push(given) },
])
const line = (text: string) => ({ file: 'x.scenario', number: 7, text })

describe('a line', () => {
  test('fills the slots of its sentence', async () => {
    await read(line('S1 buy 1,000 @ESM24 limit -5.25 gtc -> signal 1'))(null)
    expect(seen.pop()).toMatchObject({
      strategy: 'S1',
      side: 'buy',
      quantity: '1,000',
      symbol: '@ESM24',
      terms: 'limit -5.25 gtc',
      outcome: 'signal 1',
    })
    await read(line('quote EUR/USD 1.08 / 1.0801'))(null)
    expect(seen.pop()).toMatchObject({ symbol: 'EUR/USD', bid: '1.08', ask: '1.0801' })
  })

  test('that nobody reads is named, with what could be read', () => {
    expect(() => read(line('S1 borrow 1 ES'))).toThrow(
      /x\.scenario:7: no sentence reads "S1 borrow 1 ES"[\s\S]*quote <symbol>/,
    )
  })

  test('that can be read twice is a mistake', () => {
    const twice = createReader<null>([
      { says: '<who> flat', does: async () => undefined },
      { says: '<account> flat', does: async () => undefined },
    ])
    expect(() => twice(line('S1 flat'))).toThrow('two ways')
  })

  test('that does not hold says where, what was expected and what was found', async () => {
    await expect(read(line('S1 flat ES'))(null)).rejects.toThrow(
      'x.scenario:7\n  S1 flat ES\nexpected: flat\nfound:    long 1 ES',
    )
  })
})

describe('a file', () => {
  test('is a list of titled scenarios; comments and blank lines are no part of them', () => {
    const text = '# about\nscenario one\n  a b  # why\n\nscenario two\n  c'
    expect(
      readScenarios('f', text).map(({ title, lines }) => [
        title,
        lines.map((each) => `${each.number} ${each.text}`),
      ]),
    ).toEqual([
      ['one', ['3 a b']],
      ['two', ['6 c']],
    ])
  })

  test('without a title is a mistake', () => {
    expect(() => readScenarios('f', 'a b')).toThrow('f:1')
  })
})
