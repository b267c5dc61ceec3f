import { describe, expect, test } from 'vitest'
import { acceptsJson, codingOf, isJsonType } from './media.ts'

describe('Accept', () => {
  test.each<[string | undefined, boolean, boolean]>([
    // header, native, compat
    ['application/json', true, true],
    ['Application/JSON', true, true],
    ['application/json; charset=utf-8', true, true],
    ['application/json;q=0.001', true, true],
    ['text/html, application/json;q=0.9, */*;q=0.1', true, true],
    ['text/html,,application/json', true, true],
    ['application/json;q=0, application/json', true, true],
    ['application/json, application/json;q=0', true, true],
    [undefined, false, true],
    ['', false, true],
    ['*/*', false, true],
    ['application/*', false, true],
    ['text/html', false, false],
    ['text/html, image/*', false, false],
    ['application/json;q=0', false, false],
    ['application/json;q=0.000', false, false],
    ['application/json;q=0, */*', false, false],
    ['application/*;q=0, */*', false, false],
    ['*/*;q=0', false, false],
    ['application/json5', false, false],
    ['application/jsonx, text/plain', false, false],
    // broken
    ['application/json;q=abc', false, true],
    ['application/json;q=2', false, true],
    ['application/json;q=-1', false, true],
    ['application/json;q=1.0001', false, true],
    ['application/json;', false, true],
    ['json', false, true],
    ['application/json application/json', false, true],
    ['"application/json"', false, true],
  ])('%j: native %s, compat %s', (header, native, compat) => {
    expect(acceptsJson(header, 'native')).toBe(native)
    expect(acceptsJson(header, 'compat')).toBe(compat)
  })
})

describe('Content-Type', () => {
  test.each<[string | undefined, boolean]>([
    ['application/json', true],
    ['application/json; charset=utf-8', true],
    ['application/json;charset=UTF-8', true],
    ['APPLICATION/JSON; Charset="utf-8"', true],
    ['application/json; version=1', true],
    [undefined, false],
    ['', false],
    ['text/plain', false],
    ['application/x-www-form-urlencoded', false],
    ['multipart/form-data; boundary=x', false],
    ['application/json; charset=utf-16', false],
    ['application/json; Charset=utf-16', false],
    ['application/json; charset=', false],
    ['application/json; charset=utf-8; charset=utf-8', false],
    ['application/json;', false],
    ['application/json5', false],
    ['application/vnd.api+json', false],
    ['application/json, application/json', false],
    ['\0', false],
  ])('%j: %s', (header, expected) => expect(isJsonType(header)).toBe(expected))
})

describe('Accept-Encoding', () => {
  test.each<[string | undefined, string]>([
    [undefined, 'identity'],
    ['', 'identity'],
    ['identity', 'identity'],
    ['gzip', 'gzip'],
    ['br', 'br'],
    ['GZIP', 'gzip'],
    ['gzip, deflate, br', 'br'],
    ['gzip;q=1.0, br;q=0.5', 'gzip'],
    ['gzip;q=0, br;q=0', 'identity'],
    ['*', 'br'],
    ['br;q=0, *', 'gzip'],
    ['deflate, zstd', 'identity'],
    ['gzip;q=x', 'identity'],
  ])('%j: %s', (header, expected) => expect(codingOf(header)).toBe(expected))
})
