import { expect, test } from 'vitest'
import { readInstrumentFile } from './instrument-files.ts'

test.each(['constructor', 'toString', '__proto__'])('%s is neither a column nor a word', (name) => {
  const read = (text: string) => () => readInstrumentFile(text, 20_000)
  expect(read(`symbol,${name}\nNEW,stock`)).toThrow('line 1: the columns are symbol')
  for (const column of ['securityType', 'putOrCall', 'settlement', 'calendar'])
    expect(read(`symbol,${column}\nNEW,${name}`)).toThrow(`line 2, ${column}: "${name}" cannot be read`)
})

test('a column that is none is named beside those there are, each once', () => {
  const read = () => readInstrumentFile('symbol,tik\nNEW,0.01', 20_000)
  expect(read).toThrow(
    /^line 1: the columns are symbol and some of securityType, .*, lastTradingDay, not "tik"$/,
  )
  expect(read).not.toThrow(/symbol.*symbol/)
})

test.each([
  ['symbol,tick\n\nNEW,x\n', 'line 3, tick: "x" cannot be read'],
  ['symbol,tick\n\n,1\n', 'line 3: there is no symbol'],
  ['symbol,tick\nNEW,0,01\n', 'line 2: there are more cells than columns'],
])('%j is refused by its line', (text, says) => {
  expect(() => readInstrumentFile(text, 20_000)).toThrow(says)
})

test.each([
  ['symbol\n@ESM26\n', '2026-06-18'],
  ['symbol,lastTradingDay\n@ESM26,2026-06-17\n', '2026-06-17'],
  ['symbol,lastTradingDay\n@ESM26,\n', '2026-06-18'],
  ['symbol\n@NOBODYM26\n', null],
])('%j is a future that ends on %s', (text, lastTradingDay) => {
  expect(readInstrumentFile(text, 20_000)).toMatchObject([{ securityType: 'FUT', lastTradingDay }])
})
