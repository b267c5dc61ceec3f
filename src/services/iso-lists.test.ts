import { describe, expect, test } from 'vitest'
import { isCountry, isDivision, isLanguage } from './iso-lists.ts'
import { isInternationalPhone } from './phone.ts'

test.each([
  ['eng', true],
  ['deu', true],
  ['zho', true],
  ['en', false],
  ['ger', false],
  ['ENG', false],
  ['qqq', false],
])('the language %s: %s', (code, known) => {
  expect(isLanguage(code)).toBe(known)
})

test.each([
  ['US', true],
  ['GB', true],
  ['UK', false],
  ['XK', false],
  ['EU', false],
  ['ZZ', false],
  ['us', false],
])('the country %s: %s', (code, known) => {
  expect(isCountry(code)).toBe(known)
})

test.each([
  ['US', 'US-NY', true],
  ['US', 'NY', true],
  ['US', 'US-ZZ', false],
  ['US', 'CA-ON', false],
  ['US', 'US', false],
  ['GB', 'GB-BFS', true],
  ['HK', 'HK', true],
  ['HK', 'HK-1', false],
])('the division of %s called %s: %s', (country, code, known) => {
  expect(isDivision(country, code)).toBe(known)
})

describe('a phone number in full', () => {
  test.each([
    ['+12125550123', true],
    ['+447911123456', true],
    ['+4407911123456', false],
    ['12125550123', false],
    ['+1 212 555 0123', false],
    ['+1212555', false],
    ['+99912345678', false],
    ['', false],
  ])('%s: %s', (text, known) => {
    expect(isInternationalPhone(text)).toBe(known)
  })
})
