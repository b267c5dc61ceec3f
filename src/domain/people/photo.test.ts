import fc from 'fast-check'
import { describe, expect, test } from 'vitest'
import { judgePhoto, photoBytesMax } from './photo.ts'

const bytes = (...parts: (string | number[])[]): Uint8Array =>
  Uint8Array.from(
    parts.flatMap((part) => (typeof part === 'string' ? [...part].map((sign) => sign.charCodeAt(0)) : part)),
  )
const zeros = (count: number): number[] => Array.from({ length: count }, () => 0)

const signature = '\x89PNG\r\n\x1a\n'
const chunk = (name: string, data: number[]): (string | number[])[] => [
  [0, 0, data.length >> 8, data.length & 255],
  name,
  data,
  zeros(4),
]
const header = (width: number[], height: number[]) => chunk('IHDR', [...width, ...height, 8, 0, 0, 0, 0])
const one = [0, 0, 0, 1]
const png = bytes(signature, ...header(one, one), ...chunk('IDAT', [1, 2, 3]), ...chunk('IEND', []))

const frame = (width: number[], height: number[]) => [
  0xff,
  0xc0,
  0,
  11,
  8,
  ...height,
  ...width,
  1,
  1,
  0x11,
  0,
]
const scan = [0xff, 0xda, 0, 8, 1, 1, 0, 0, 63, 0]
const jpeg = (size = [0, 1]) =>
  bytes([0xff, 0xd8], [0xff, 0xe0, 0, 4, 1, 2], frame(size, [0, 1]), scan, [5, 5], [0xff, 0xd9])

/** As long as a frame, and as wide as one can be: not one, unless its marker says so. */
const widestSegment = (marker: number) => [0xff, marker, 0, 11, 8, 0xff, 0xff, 0xff, 0xff, 1, 1, 0x11, 0]

/** What many phones write behind a JPEG: a block, the list of blocks, the length of the list and a mark. */
const trailer = (block = 'now', mark = 'SEFT') =>
  bytes(block, 'SEFH', [107, 0, 0, 0, 1, 0, 0, 0, 0, 0, 1, 10, 3, 0, 0, 0, 3, 0, 0, 0], [24, 0, 0, 0], mark)

const webp = (form: string, data: number[]) =>
  bytes('RIFF', [12 + data.length, 0, 0, 0], 'WEBP', form, [data.length, 0, 0, 0], data)
const lossy = webp('VP8 ', [0, 0, 0, 0x9d, 1, 0x2a, 2, 0, 3, 0])

describe('photos', () => {
  test.each<[string, Uint8Array, string]>([
    ['a PNG', png, 'image/png'],
    ['a JPEG', jpeg(), 'image/jpeg'],
    ['a lossy WebP', lossy, 'image/webp'],
    ['a lossless WebP', webp('VP8L', [0x2f, 0, 0, 0, 0, ...zeros(5)]), 'image/webp'],
    ['an extended WebP', webp('VP8X', zeros(10)), 'image/webp'],
    ['nothing', bytes(), 'NoPhoto'],
    ['a GIF', bytes('GIF89a', zeros(40)), 'NoPhoto'],
    ['a page', bytes('<html>', zeros(40)), 'NoPhoto'],
    ['a PNG without data', bytes(signature, ...header(one, one), ...chunk('IEND', [])), 'NoPhoto'],
    ['a PNG with a page behind it', bytes([...png], '<script>'), 'NoPhoto'],
    [
      'a PNG without width',
      bytes(signature, ...header(zeros(4), one), ...chunk('IDAT', [1]), ...chunk('IEND', [])),
      'NoPhoto',
    ],
    [
      'a PNG too wide to show',
      bytes(signature, ...header([0, 1, 0, 0], one), ...chunk('IDAT', [1]), ...chunk('IEND', [])),
      'TooLarge',
    ],
    ['a JPEG too wide to show', jpeg([0xff, 0xff]), 'TooLarge'],
    [
      'a JPEG whose tables alone would be too wide',
      bytes([0xff, 0xd8], ...[0xc4, 0xc8, 0xcc, 0xbf, 0xd0].map(widestSegment), [...jpeg().slice(2)]),
      'image/jpeg',
    ],
    ...[0xc4, 0xc8, 0xcc, 0xbf, 0xd0].map((marker): [string, Uint8Array, string] => [
      `a JPEG with a segment ${marker} and no frame`,
      bytes([0xff, 0xd8], widestSegment(marker), scan, [0xff, 0xd9]),
      'NoPhoto',
    ]),
    ['a JPEG without a frame', bytes([0xff, 0xd8], scan, [0xff, 0xd9]), 'NoPhoto'],
    [
      'a JPEG whose segment is shorter than itself',
      bytes([0xff, 0xd8, 0xff, 0xe0, 0, 0], scan, [0xff, 0xd9]),
      'NoPhoto',
    ],
    [
      'a JPEG with filled room before a segment',
      bytes([0xff, 0xd8, 0xff, 0xff], [...jpeg().slice(2)]),
      'image/jpeg',
    ],
    ['a JPEG as phones write it', bytes([...jpeg()], [...trailer()]), 'image/jpeg'],
    ['a JPEG of a phone without its end', bytes([...jpeg().slice(0, -2)], [...trailer()]), 'NoPhoto'],
    ['a JPEG with a page behind it', bytes([...jpeg()], '<script>'), 'NoPhoto'],
    [
      'a JPEG with a page before what phones write',
      bytes([...jpeg()], [...trailer('<script>now')]),
      'NoPhoto',
    ],
    ['a JPEG with half of what phones write', bytes([...jpeg()], [...trailer('now', 'SEF')]), 'NoPhoto'],
    ['a WebP of another length', bytes([...lossy], [0, 0]), 'NoPhoto'],
    ['a WebP of another form', webp('VP9 ', zeros(10)), 'NoPhoto'],
    ['too many bytes', new Uint8Array(photoBytesMax + 1), 'TooLarge'],
  ])('%s', (_, photo, verdict) => {
    expect(judgePhoto(photo)).toBe(verdict)
  })

  const big = (value: number, length: number) =>
    Array.from({ length }, (_, place) => Math.floor(value / 256 ** (length - 1 - place)) % 256)
  const little = (value: number, length: number) => big(value, length).toReversed()
  const sized: [string, (width: number, height: number) => Uint8Array, string][] = [
    [
      'image/png',
      (width, height) =>
        bytes(
          signature,
          ...header(big(width, 4), big(height, 4)),
          ...chunk('IDAT', [1]),
          ...chunk('IEND', []),
        ),
      'NoPhoto',
    ],
    [
      'image/jpeg',
      (width, height) => bytes([0xff, 0xd8], frame(big(width, 2), big(height, 2)), scan, [0xff, 0xd9]),
      'NoPhoto',
    ],
    [
      'image/webp',
      (width, height) => webp('VP8X', [...zeros(4), ...little(width - 1, 3), ...little(height - 1, 3)]),
      'TooLarge',
    ],
  ]
  test.each(sized)('%s of twenty thousand pixels a side, and no more', (type, photo, ofNone) => {
    expect(judgePhoto(photo(20_000, 20_000))).toBe(type)
    expect([judgePhoto(photo(20_001, 1)), judgePhoto(photo(1, 20_001))]).toEqual(['TooLarge', 'TooLarge'])
    // The extended form cannot say none: it counts from one.
    expect([judgePhoto(photo(0, 1)), judgePhoto(photo(1, 0))]).toEqual([ofNone, ofNone])
  })

  test('a lossy WebP has two sides', () => {
    const none = (width: number, height: number) =>
      judgePhoto(webp('VP8 ', [0, 0, 0, 0x9d, 1, 0x2a, ...little(width, 2), ...little(height, 2)]))
    expect([none(0, 3), none(3, 0), none(256, 256)]).toEqual(['NoPhoto', 'NoPhoto', 'image/webp'])
  })

  test('cut anywhere are none', () => {
    for (const whole of [png, jpeg(), lossy]) {
      for (let length = 0; length < whole.length; length++)
        expect([length, judgePhoto(whole.subarray(0, length))]).toEqual([length, 'NoPhoto'])
    }
  })

  test('of a million parts keep nobody waiting', () => {
    const segments = new Uint8Array(photoBytesMax)
    segments.set([0xff, 0xd8])
    for (let at = 2; at + 4 < photoBytesMax; at += 4) segments.set([0xff, 0xc0, 0, 2], at)
    segments.set([0xff, 0xd9], photoBytesMax - 2)
    const chunks = new Uint8Array(photoBytesMax)
    for (let at = 8; at + 12 <= photoBytesMax; at += 12) chunks.set(bytes(zeros(4), 'IHDR', zeros(4)), at)
    chunks.set(png.subarray(0, 8))
    for (const photo of [segments, chunks]) {
      const times = [1, 2, 3].map(() => {
        const from = performance.now()
        expect(judgePhoto(photo)).toBe('NoPhoto')
        return performance.now() - from
      })
      expect(Math.min(...times)).toBeLessThan(250)
    }
  })

  test('of any bytes are judged without harm, with any beginning', () => {
    const starts = [png.subarray(0, 20), jpeg().subarray(0, 8), lossy.subarray(0, 16), bytes()]
    fc.assert(
      fc.property(fc.constantFrom(...starts), fc.uint8Array({ maxLength: 300 }), (start, rest) => {
        expect(typeof judgePhoto(bytes([...start], [...rest]))).toBe('string')
      }),
    )
  })
})
