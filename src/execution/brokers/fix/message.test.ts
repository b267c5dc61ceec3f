import { describe, expect, test } from 'vitest'
import { fixMessage } from '../../../../test/support/fix-message.ts'
import { countOf, decimalOf, idOf, priceOf, readable, textOf, timeOf } from './message.ts'

const at = (iso: string): number => Date.parse(iso)

describe('values of a message', () => {
  test.each([
    ['a whole number', '10', '10'],
    ['a decimal', '10.25', '10.25'],
    ['a negative one', '-3.5', '-3.5'],
    ['leading zeros', '007.50', '007.50'],
    ['a point at the end', '10.', '10'],
    ['zero', '0', '0'],
    ['nothing', '', null],
    ['NaN', 'NaN', null],
    ['infinity', 'Infinity', null],
    ['an exponent', '1e5', null],
    ['a comma', '1,5', null],
    ['a sign alone', '-', null],
    ['a plus', '+5', null],
    ['hexadecimal', '0x10', null],
    ['more digits than a book holds', '1234567890123', null],
    ['finer than a book', '0.1234567890123', null],
    ['digits of another script', '١٢', null],
  ])('a decimal: %s', (_, value, expected) => {
    expect(decimalOf(fixMessage(`32=${value}`), 32)).toBe(expected)
  })

  test.each([
    ['of a book', '100.25', '100.25'],
    ['that does not end', '98.66666666666667', '98.666666666667'],
    ['with a point at the end', '98.', '98'],
    ['with more digits than any number has', `9.${'3'.repeat(25)}`, null],
    ['that is none', 'NaN', null],
  ])('a price %s', (_, value, expected) => {
    expect(priceOf(fixMessage(`6=${value}`), 6)).toBe(expected)
  })

  test.each([
    ['to the second', '20240312-14:00:00', at('2024-03-12T14:00:00Z')],
    ['to the millisecond', '20240312-14:00:00.123', at('2024-03-12T14:00:00.123Z')],
    ['to the nanosecond', '20240312-14:00:00.123456789', at('2024-03-12T14:00:00.123Z')],
    ['a leap second', '20161231-23:59:60', at('2016-12-31T23:59:59Z')],
    ['a leap day', '20240229-00:00:00', at('2024-02-29T00:00:00Z')],
    ['a day that no month has', '20230229-00:00:00', null],
    ['an hour too many', '20240312-24:00:01', null],
    ['that was never set', '00010101-00:00:00', null],
    ['of a year that no database knows', '00000101-00:00:00', null],
    ['a date alone', '20240312', null],
    ['a zone', '20240312-14:00:00Z', null],
    ['another form', '2024-03-12T14:00:00', null],
  ])('a time: %s', (_, value, expected) => {
    expect(timeOf(fixMessage(`60=${value}`), 60)).toBe(expected)
  })

  test('a tag that is there twice says nothing', () => {
    expect(textOf(fixMessage('58=one|58=two'), 58)).toBeNull()
    expect(decimalOf(fixMessage('32=5|32=6'), 32)).toBeNull()
  })

  test('text loses control characters and what is too long, an id may have neither', () => {
    expect(textOf(fixMessage('58= a\u0000b\nc '), 58)).toBe('a b c')
    expect(textOf(fixMessage(`58=${'x'.repeat(600)}`), 58)).toHaveLength(500)
    expect(idOf(fixMessage('17=E-1'), 17)).toBe('E-1')
    expect(idOf(fixMessage('17=E\u0000'), 17)).toBeNull()
    expect(idOf(fixMessage(`17=${'x'.repeat(101)}`), 17)).toBeNull()
  })

  test('a count is whole and not negative', () => {
    expect([countOf(fixMessage('36=7'), 36), countOf(fixMessage('36=-7'), 36)]).toEqual([7, null])
    expect(countOf(fixMessage('36=7.5'), 36)).toBeNull()
  })

  test('is readable for an operator without a control character', () => {
    const text = readable(fixMessage('35=8|34=9|17=E\u0000|32=NaN'))
    expect(text).toContain('35=8|34=9|')
    expect(text).toContain('32=NaN')
    expect(text).not.toMatch(/\p{Cc}/u)
  })
})
