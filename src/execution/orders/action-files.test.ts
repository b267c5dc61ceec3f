/** Files of announcements: what is read, and which line is wrong. */
import { describe, expect, test } from 'vitest'
import { readActionFile } from './action-files.ts'

describe('a file of actions', () => {
  test('has its columns in any order, and blank lines', () => {
    const text = '\uFEFFdate,Symbol,amount\n2024-03-13,AAPL,0.24\n\n2024-03-14,MSFT,0.75\n'
    expect(readActionFile('dividend', text)).toMatchObject([
      { kind: 'dividend', symbol: 'AAPL', day: '2024-03-13' },
      { kind: 'dividend', symbol: 'MSFT', day: '2024-03-14' },
    ])
    const [split] = readActionFile('split', 'symbol,date,new,old\nAAPL,2024-03-13,2,1\n')
    expect([split?.new?.toFixed(), split?.old?.toFixed(), split?.amount]).toEqual(['2', '1', undefined])
  })

  test('has lines that end in empty cells, and knows which they are', () => {
    const text = 'symbol,date,amount\n\nAAPL,2024-03-13,0.24,,\nMSFT,2024-03-14,0.75, \n'
    expect(readActionFile('dividend', text)).toMatchObject([{ line: 3 }, { line: 4 }])
  })

  test.each([
    ['another column', 'split', 'symbol,date,amount\n', 'line 1: the columns must be symbol, date, new, old'],
    ['nothing at all', 'dividend', '', 'line 1: the columns must be symbol, date, amount'],
    [
      'a word for a number',
      'dividend',
      'symbol,date,amount\nA,2024-03-13,x\n',
      'line 2, amount: "x" is no number',
    ],
    [
      'a negative number',
      'dividend',
      'symbol,date,amount\nA,2024-03-13,-1\n',
      'line 2, amount: "-1" is no number',
    ],
    [
      'a number behind a blank line',
      'dividend',
      'symbol,date,amount\n\nA,2024-03-13,1\n\nA,2024-06-13,x\n',
      'line 5, amount: "x" is no number',
    ],
    [
      'a decimal comma',
      'dividend',
      'symbol,date,amount\nA,2024-03-13,1,25\n',
      'line 2: there are more cells than columns',
    ],
    ['a missing cell', 'split', 'symbol,date,new,old\nA,2024-03-13,2\n', 'line 2, old: "" is no number'],
  ] as const)('%s is refused', (_, kind, text, says) => {
    expect(() => readActionFile(kind, text)).toThrow(says)
  })
})
