import { expect, test } from 'vitest'
import { formatDay } from '../../domain/time.ts'
import { readIndexCloses } from './index-file.ts'

test('rows in any order, other columns, equal closes of one day', () => {
  const text =
    '\uFEFFDate,Open,Close\n2024-03-13,1,5165.31\n2024-03-12T00:00:00,1,5175.27\n\n2024-03-13,2,5165.310\n'
  expect(readIndexCloses(text).map(({ day, close }) => [formatDay(day), close])).toEqual([
    ['2024-03-12', '5175.27'],
    ['2024-03-13', '5165.310'],
  ])
})

test.each([
  ['no date', 'date,close\n2024-03-12,1\n2024-02-30,1', 'line 3'],
  ['no close', 'date,value\n2024-03-12,1', 'line 1: the columns must be date and close'],
  ['no date behind a blank line', 'date,close\n\n2024-03-12,1\n\n2024-02-30,1', 'line 5'],
  ['a close of zero', 'date,close\n2024-03-12,0.00', 'line 2'],
  ['a close below zero', 'date,close\n2024-03-12,-1', 'line 2'],
  ['no number', 'date,close\n2024-03-12,Infinity', 'line 2'],
  [
    'two closes of one day',
    'date,close\n2024-03-12,1\n2024-03-12,2',
    'line 3: 2024-03-12 has two closes, 1 and 2',
  ],
  ['nothing at all', '', 'line 1: the columns must be date and close'],
  ['no table', '\0\uFFFE', 'line 1: the columns must be date and close'],
])('%s', (_, text, line) => expect(() => readIndexCloses(text)).toThrow(line))
