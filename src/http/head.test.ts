import { describe, expect, test } from 'vitest'
import { acceptedRequestId, hasBody, isIdempotencyKey, readHead, readHttpDate, repeated } from './head.ts'

describe('header lines', () => {
  test('names are found in any case, unknown ones are left', () => {
    expect(readHead(['HOST', 'a', 'x-Other', 'b', 'Content-type', 'c', '__proto__', 'd'])).toEqual({
      host: 'a',
      contentType: 'c',
    })
  })

  test('what may come once is marked when it comes twice, lists are joined', () => {
    const names = ['Authorization', 'Accept', 'Accept-Encoding']
    const twice = names.flatMap((name) => [name, 'a', name.toLowerCase(), 'b'])
    expect(readHead(twice)).toEqual({ authorization: repeated, accept: 'a, b', acceptEncoding: 'a, b' })
  })

  test.each([
    [{}, false],
    [{ contentLength: '0' }, false],
    [{ contentLength: '1' }, true],
    [{ transferEncoding: 'chunked' }, true],
  ])('%o has a body: %s', (head, expected) => expect(hasBody(head)).toBe(expected))

  test.each([
    ['Thu, 26 Feb 2026 15:15:15 GMT', Date.UTC(2026, 1, 26, 15, 15, 15)],
    ['Fri, 26 Feb 2026 15:15:15 GMT', undefined],
    ['Thu, 26 Feb 2026 15:15:15', undefined],
    ['Thu, 30 Feb 2026 15:15:15 GMT', undefined],
    ['2026-02-26T15:15:15Z', undefined],
    ['2026', undefined],
    ['', undefined],
    [undefined, undefined],
    ['Sunday, 06-Nov-94 08:49:37 GMT', Date.UTC(1994, 10, 6, 8, 49, 37)],
    ['Tuesday, 12-Mar-24 14:00:00 GMT', Date.UTC(2024, 2, 12, 14)],
    ['Monday, 12-Mar-24 14:00:00 GMT', undefined],
    ['Sun Nov  6 08:49:37 1994', Date.UTC(1994, 10, 6, 8, 49, 37)],
    ['Tue Mar 12 14:00:00 2024', Date.UTC(2024, 2, 12, 14)],
    ['Tue Mar 12 14:00:00 2023', undefined],
    ['Sun Nov 06 08:49:37 1994 GMT', undefined],
    ['Invalid Date', undefined],
  ])('date %s', (text, expected) => expect(readHttpDate(text)).toBe(expected))

  test.each([
    ['a', true],
    ['~'.repeat(255), true],
    ['~'.repeat(256), false],
    ['', false],
    ['a b', false],
    ['a\tb', false],
    ['é', false],
    [repeated, false],
  ])('idempotency key %j: %s', (text, expected) => expect(isIdempotencyKey(text)).toBe(expected))

  test.each([
    ['abc-DEF_1.2', 'abc-DEF_1.2'],
    ['a'.repeat(65), undefined],
    ['a\u001b[31m', undefined],
    ['a,b', undefined],
    ['', undefined],
    [undefined, undefined],
  ])('request id %j', (text, expected) => expect(acceptedRequestId(text)).toBe(expected))
})
