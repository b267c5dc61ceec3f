import fc from 'fast-check'
import { describe, expect, test } from 'vitest'
import { type Json, readAnyJson, readJson } from './json.ts'

const read = (text: string | Buffer) => readJson(typeof text === 'string' ? Buffer.from(text) : text)
const parsed = (text: string): Json => {
  const answer = read(text)
  if ('fault' in answer) throw new Error(answer.fault)
  return answer.value
}
const nested = (depth: number) => '['.repeat(depth) + ']'.repeat(depth)

describe('strict JSON', () => {
  test.each<[string, string, Json]>([
    ['an object', '{"A": [1, "x", true, false, null, {}]}', { A: [1, 'x', true, false, null, {}] }],
    ['blanks', ' \t\r\n[ 1 , 2 ]\n', [1, 2]],
    ['a scalar', '"x"', 'x'],
    ['escapes', '"\\"\\\\\\/\\b\\f\\n\\r\\t\\u00e9\\ud83d\\ude00"', '"\\/\b\f\n\r\té😀'],
    ['raw UTF-8', '"é😀\u2028"', 'é😀\u2028'],
    ['2^53 - 1', '9007199254740991', 9007199254740991],
    ['2^53', '9007199254740992', 9007199254740992n],
    ['2^53 + 1', '9007199254740993', 9007199254740993n],
    ['-2^63', '-9223372036854775808', -9223372036854775808n],
    ['10^30', `1${'0'.repeat(30)}`, 10n ** 30n],
    ['400 digits', '9'.repeat(400), { inexact: '9'.repeat(400) }],
    ['minus zero', '-0', 0],
    ['minus zero with a fraction', '-0.0', 0],
    ['a decimal', '54.2577', 54.2577],
    ['a whole number with a fraction', '1.0', 1],
    ['an exponent', '1e3', 1000],
    ['17 digits that round-trip', '0.30000000000000004', 0.30000000000000004],
    ['a small exponent', '2.5E-7', 2.5e-7],
    ['20 levels', nested(20), JSON.parse(nested(20)) as Json],
    [
      'names of the prototype',
      '{"constructor": 1, "toString": 2}',
      Object.fromEntries([
        ['constructor', 1],
        ['toString', 2],
      ]),
    ],
  ])('%s', (_, text, expected) => expect(parsed(text)).toEqual(expected))

  test('minus zero is plain zero', () => {
    expect(Object.is(parsed('-0'), 0)).toBe(true)
    expect(Object.is(parsed('-0.0'), 0)).toBe(true)
  })

  test.each([
    '0.1000000000000000055511151231257827',
    '1e309',
    '-1e309',
    '1e-400',
    '9007199254740993.0',
    '1e999999999999999999999999999999999999999999999999',
    '0.123456789012345678901234567891',
  ])('%s stays text', (text) => expect(parsed(text)).toEqual({ inexact: text }))

  test.each<[string, string | Buffer]>([
    ['nothing', ''],
    ['blanks only', '  '],
    ['an open object', '{'],
    ['an open string', '"abc'],
    ['a trailing comma', '[1,]'],
    ['a trailing comma in an object', '{"A":1,}'],
    ['a leading comma', '[,1]'],
    ['a comment', '{"A":1} // x'],
    ['a comment inside', '{/**/"A":1}'],
    ['two values', '{} {}'],
    ['single quotes', "{'A':1}"],
    ['half a word', 'nul'],
    ['a word that begins like another', '[trap]'],
    ['a bare name', '{A:1}'],
    ['no colon', '{"A" 1}'],
    ['a repeated name', '{"A":1,"A":1}'],
    ['a name repeated through an escape', '{"A":1,"\\u0041":2}'],
    ['a repeated name of the prototype', '{"toString":1,"toString":1}'],
    ['__proto__', '{"__proto__":{"x":1}}'],
    ['__proto__ through an escape', '{"\\u005f_proto__":{"x":1}}'],
    ['a high surrogate alone', '"\\ud83d"'],
    ['a low surrogate alone', '"\\ude00"'],
    ['two low surrogates', '"\\ude00\\ude00"'],
    ['surrogates the wrong way round', '"\\ude00\\ud83d"'],
    ['a high surrogate and a letter', '"\\ud83d\\u0041"'],
    ['NUL as an escape', '"\\u0000"'],
    ['NUL itself', '"\u0000"'],
    ['NUL in a name', '{"\\u0000":1}'],
    ['a control character', '"\n"'],
    ['an unknown escape', '"\\x41"'],
    ['an escape of the prototype', '"\\constructor"'],
    ['half an escape', '"\\u00"'],
    ['21 levels', nested(21)],
    ['20,001 levels', nested(20_001)],
    ['a byte order mark', '\ufeff{}'],
    ['UTF-16', Buffer.from('\ufeff{}', 'utf16le')],
    ['no UTF-8', Buffer.from([0x22, 0xff, 0x22])],
    ['a surrogate in bytes', Buffer.from([0x22, 0xed, 0xa0, 0x80, 0x22])],
    ['an overlong form', Buffer.from([0x22, 0xc0, 0x80, 0x22])],
    ['gzip', Buffer.from([0x1f, 0x8b, 0x08, 0x00])],
    ['NaN', 'NaN'],
    ['Infinity', '[-Infinity]'],
    ['a plus sign', '+1'],
    ['a leading zero', '01'],
    ['a leading point', '.5'],
    ['a trailing point', '1.'],
    ['an empty exponent', '1e'],
    ['hexadecimal', '0x10'],
    ['a word', 'truth'],
    ['a no-break space', '\u00a0{}'],
  ])('%s is refused', (_, text) => expect(read(text)).toHaveProperty('fault'))

  test('nothing reaches the prototype', () => {
    const before = Object.getOwnPropertyNames(Object.prototype).length
    parsed('{"constructor":{"prototype":{"polluted":1}},"hasOwnProperty":2}')
    expect(Object.getOwnPropertyNames(Object.prototype)).toHaveLength(before)
    expect(({} as { polluted?: number }).polluted).toBeUndefined()
  })

  test('agrees with JSON.parse on what JSON.stringify writes', () => {
    fc.assert(
      fc.property(fc.jsonValue({ maxDepth: 5, noUnicodeString: false }), (value) => {
        const text = JSON.stringify(value)
        fc.pre(!text.includes('__proto__') && !text.includes('\\u0000') && !/\\ud[89a-f]/i.test(text))
        const answer = read(text)
        // Doubles above 2^53 are exact integers here.
        const narrowed = JSON.stringify('value' in answer ? answer.value : answer, (_, one) =>
          typeof one === 'bigint' ? Number(one) : one,
        )
        expect(JSON.parse(narrowed)).toEqual(JSON.parse(text))
      }),
      { numRuns: 500 },
    )
  })

  test('never accepts what JSON.parse refuses', () => {
    const scraps = fc.array(
      fc.constantFrom(
        '{',
        '}',
        '[',
        ']',
        ':',
        ',',
        '"',
        '\\',
        'u',
        '0',
        '1',
        '-',
        '.',
        'e',
        'a',
        ' ',
        'true',
        'null',
      ),
    )
    fc.assert(
      fc.property(scraps, (parts) => {
        const text = parts.join('')
        if ('fault' in read(text)) return
        expect(() => JSON.parse(text)).not.toThrow()
      }),
      { numRuns: 3000 },
    )
  })

  test('a decimal is either exact or kept as text', () => {
    const decimals = fc.tuple(
      fc.nat(),
      fc.stringMatching(/^[0-9]{1,25}$/),
      fc.integer({ min: -330, max: 330 }),
    )
    fc.assert(
      fc.property(decimals, ([whole, fraction, power]) => {
        const text = `${whole}.${fraction}e${power}`
        const value = parsed(text)
        if (typeof value === 'number') expect(Number(text)).toBe(value)
        else expect(value).toEqual({ inexact: text })
      }),
    )
  })

  test('eight megabytes of text and of digits are read in linear time', () => {
    const before = process.cpuUsage()
    expect(parsed(JSON.stringify('x'.repeat(8 << 20)))).toHaveLength(8 << 20)
    expect(parsed(`0.${'1'.repeat(8 << 20)}`)).toHaveProperty('inexact')
    expect(parsed(`"${'\\n'.repeat(1 << 20)}"`)).toHaveLength(1 << 20)
    // Microseconds of this process alone: one or two seconds on a slow machine, hours where time is quadratic.
    expect(process.cpuUsage(before).user).toBeLessThan(20_000_000)
  })
})

describe('the short way for plain bodies', () => {
  const scalar = fc.constantFrom(
    ...[
      '0',
      '7',
      '-7',
      '-0',
      '1.50',
      '.5',
      '1.',
      '01',
      '1e3',
      '0.1E2',
      '123456789012345',
      '1234567890123456',
    ],
    ...['1234567.1234567', '1234567.12345678', 'true', 'false', 'null', 'nul', '""', '"a"', '":"', '"a:b"'],
    ...['"\\u0041"', '"\\""', '"é"', '"{"', '"\t"', '"', "'a'", 'Infinity'],
  )
  const name = fc.constantFrom(
    '"a"',
    '"b"',
    '"c"',
    '":"',
    '"toString"',
    '"__proto__"',
    '"\\u0061"',
    '"é"',
    'a',
  )
  const blank = fc.constantFrom('', ' ', '\n', '\r\t ')
  const { text } = fc.letrec<{ text: string; list: string; object: string }>((tie) => ({
    text: fc.oneof({ depthSize: 'small' }, scalar, tie('list'), tie('object')),
    list: fc
      .array(fc.tuple(blank, tie('text')), { maxLength: 3 })
      .map((items) => `[${items.map((item) => item.join('')).join(',')}]`),
    object: fc
      .array(fc.tuple(blank, name, blank, fc.constant(':'), blank, tie('text'), blank), { maxLength: 4 })
      .map((members) => `{${members.map((member) => member.join('')).join(',')}}`),
  }))

  test('reads what the long one reads, and leaves it what that refuses', () => {
    const broken = fc
      .tuple(text, fc.nat(), fc.constantFrom('', ',', '"', '}', '\0', '1'))
      .map(([whole, at, piece]) => {
        const place = at % (whole.length + 1)
        return whole.slice(0, place) + piece + whole.slice(place + (piece === '' ? 1 : 0))
      })
    fc.assert(
      fc.property(fc.oneof(text, broken), (sent) => {
        expect(readJson(Buffer.from(sent))).toEqual(readAnyJson(Buffer.from(sent)))
      }),
      { numRuns: 5_000 },
    )
  })

  test.each([
    nested(20),
    nested(21),
    `${'{"a":'.repeat(20)}1${'}'.repeat(20)}`,
    `${'{"a":'.repeat(21)}1${'}'.repeat(21)}`,
  ])('as deep as the long one: %s', (sent) => expect(read(sent)).toEqual(readAnyJson(Buffer.from(sent))))
})
