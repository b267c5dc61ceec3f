import { expect, test } from 'vitest'
import { chunked, oneOfEach } from './group.ts'

test.each([
  ['nothing', [], 2, []],
  ['less than a part', [1], 2, [[1]]],
  [
    'whole parts',
    [1, 2, 3, 4],
    2,
    [
      [1, 2],
      [3, 4],
    ],
  ],
  ['a rest', [1, 2, 3], 2, [[1, 2], [3]]],
])('%s in parts', (_, rows, size, parts) => {
  expect([...chunked(rows, size)]).toEqual(parts)
})

test('a row is taken only when its part is wanted', () => {
  let taken = 0
  function* rows() {
    for (;;) yield ++taken
  }
  const parts = chunked(rows(), 3)
  expect(parts.next().value).toEqual([1, 2, 3])
  expect(taken).toBe(3)
})

test('of each key its last row, in the order of the first ones', () => {
  expect(oneOfEach(['a1', 'b1', 'a2', 'c1'], ([key]) => key)).toEqual(['a2', 'b1', 'c1'])
})
