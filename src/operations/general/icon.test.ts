import { expect, test } from 'vitest'
import { iconOf } from './icon.ts'

/** The letters in the picture, as XML. */
const drawn = (alias: string): string | undefined => {
  const [, coded = ''] = iconOf(7, alias).split('base64,')
  return /<text[^>]*>([^<]*)<\/text>/.exec(Buffer.from(coded, 'base64').toString())?.[1]
}

test.each([
  ['Ann Bee Cee', 'AB'],
  ['ann', 'A'],
  ['<b> &c', '&lt;&amp;'],
  ['', ''],
  // A name may hold what makes XML malformed.
  ['\u0001zed \ufffe \uffff<b>', 'Z&lt;'],
  ['\u0085x\u001fy', 'XY'],
  ['\uffff', ''],
])('of %j the picture shows %j', (alias, letters) => {
  expect(drawn(alias)).toBe(letters)
})
