import { describe, expect, test } from 'vitest'
import { type CursorBinding, type Position, readCursor, writeCursor } from './cursor.ts'

const hour = 3_600_000
const now = Date.parse('2024-03-12T14:00:00Z')
const binding: CursorBinding = {
  secret: 'a secret of the site',
  operation: 'GetStrategyHistoricalOrders',
  filters: '{"StrategyId":7}',
  order: 'asc',
  keyId: 'k1',
}
const position: Position = {
  direction: 'next',
  segments: [[['2024-01-01 00:00:00+00', '17'], '700:703:701']],
}
const cursor = writeCursor(position, binding, now)

describe('a cursor', () => {
  test('comes back as it was written', () => {
    expect(readCursor(cursor, binding, now)).toEqual(position)
  })

  test('keeps where a scan that goes down began', () => {
    const down: Position = { ...position, top: ['2024-02-01 00:00:00+00', '90'] }
    expect(readCursor(writeCursor(down, binding, now), binding, now)).toEqual(down)
  })

  test.each<[string, Partial<CursorBinding>]>([
    ['another secret', { secret: 'other' }],
    ['another operation', { operation: 'GetAutotradeHistoricalOrders' }],
    ['other filters', { filters: '{"StrategyId":8}' }],
    ['another order', { order: 'desc' }],
    ['another key', { keyId: 'k2' }],
  ])('is refused with %s', (_, change) => {
    expect(readCursor(cursor, { ...binding, ...change }, now)).toBe('CursorInvalid')
  })

  test.each([
    ['one hour', hour, position],
    ['a millisecond more', hour + 1, 'CursorExpired'],
    ['a clock set back', -hour, position],
  ])('after %s', (_, later, expected) => {
    expect(readCursor(cursor, binding, now + later)).toEqual(expected)
  })

  test('a forged and expired cursor is invalid, not expired', () => {
    expect(readCursor(cursor, { ...binding, keyId: 'k2' }, now + 2 * hour)).toBe('CursorInvalid')
  })

  test('any changed character is refused', () => {
    const alphabet = 'ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789-_+/='
    for (let index = 0; index < cursor.length; index++) {
      for (const letter of alphabet) {
        if (letter === cursor[index]) continue
        const changed = cursor.slice(0, index) + letter + cursor.slice(index + 1)
        expect(readCursor(changed, binding, now)).toBe('CursorInvalid')
      }
    }
  })

  test.each([
    [''],
    ['x'],
    [' '],
    [cursor.slice(1)],
    [cursor.slice(0, -1)],
    [`${cursor}=`],
    [`${cursor}AAAA`],
    ['é'.repeat(60)],
  ])('garbage %j is refused', (text) => {
    expect(readCursor(text, binding, now)).toBe('CursorInvalid')
  })
})
