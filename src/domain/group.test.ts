import { expect, test } from 'vitest'
import { chunked } from './group.ts'

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
