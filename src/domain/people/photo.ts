/**
 * Photos judged by their bytes: what they are, whether they are whole, and how large they are. What a sender calls
 * them does not count.
 */

export type PhotoType = 'image/jpeg' | 'image/png' | 'image/webp'

/** Refused: no photo of a known type, or not whole; above the size. */
export type RefusedPhoto = 'NoPhoto' | 'TooLarge'

/** Most bytes of a photo. */
export const photoBytesMax = 4 * 1024 * 1024
/** Most pixels of a side. */
const sideMax = 20_000

interface Measure {
  readonly type: PhotoType
  readonly width: number
  readonly height: number
}

/** The type of a photo, or why it is refused. */
export function judgePhoto(bytes: Uint8Array): PhotoType | RefusedPhoto {
  if (bytes.length > photoBytesMax) return 'TooLarge'
  const measure = measurePng(bytes) ?? measureJpeg(bytes) ?? measureWebp(bytes)
  if (measure === undefined || measure.width === 0 || measure.height === 0) return 'NoPhoto'
  return Math.max(measure.width, measure.height) > sideMax ? 'TooLarge' : measure.type
}

const textAt = (bytes: Uint8Array, at: number, length: number): string =>
  String.fromCharCode(...bytes.subarray(at, at + length))

/** Unsigned, most significant byte first. A view of its own for each number would take a million parts half a second. */
function bigEndian(bytes: Uint8Array, at: number, length: number): number {
  let value = 0
  for (const end = Math.min(at + length, bytes.length); at < end; at++) value = value * 256 + (bytes[at] ?? 0)
  return value
}

/** Unsigned, least significant byte first. */
function littleEndian(bytes: Uint8Array, at: number, length: number): number {
  let value = 0
  for (let place = Math.min(at + length, bytes.length) - 1; place >= at; place--)
    value = value * 256 + (bytes[place] ?? 0)
  return value
}

/** Names of chunks, as numbers. */
const [pngData, pngEnd] = [0x49444154, 0x49454e44]
const pngSignature = '\x89PNG\r\n\x1a\n'

/** A signature, a header chunk with the size, image data, and the chunk that ends it all. */
function measurePng(bytes: Uint8Array): Measure | undefined {
  if (textAt(bytes, 0, 8) !== pngSignature || textAt(bytes, 12, 4) !== 'IHDR') return undefined
  let hasData = false
  for (let at = 8; at + 12 <= bytes.length; at += bigEndian(bytes, at, 4) + 12) {
    const chunk = bigEndian(bytes, at + 4, 4)
    if (chunk === pngData) hasData = true
    if (chunk !== pngEnd) continue
    const isLast = at + 12 === bytes.length && bigEndian(bytes, at, 4) === 0
    if (!hasData || !isLast) return undefined
    return { type: 'image/png', width: bigEndian(bytes, 16, 4), height: bigEndian(bytes, 20, 4) }
  }
  return undefined
}

/** Frames that hold the size: all SOF markers; C4, C8 and CC mean something else. */
const isFrame = (marker: number): boolean =>
  marker >= 0xc0 && marker <= 0xcf && marker !== 0xc4 && marker !== 0xc8 && marker !== 0xcc

const startOfScan = 0xda

const frameSize = (bytes: Uint8Array, at: number): Measure => ({
  type: 'image/jpeg',
  height: bigEndian(bytes, at + 5, 2),
  width: bigEndian(bytes, at + 7, 2),
})

/**
 * Many phones write blocks of their own behind every JPEG, and at last a list of these, its length and a mark. The image
 * ends where the first block begins: the list says how far before itself that is.
 */
function endOfJpeg(bytes: Uint8Array): number {
  const listEnd = bytes.length - 8
  if (textAt(bytes, listEnd + 4, 4) !== 'SEFT') return bytes.length
  const list = listEnd - littleEndian(bytes, listEnd, 4)
  if (textAt(bytes, list, 4) !== 'SEFH') return bytes.length
  let farthest = 0
  for (let entry = list + 12; entry + 12 <= listEnd; entry += 12)
    farthest = Math.max(farthest, littleEndian(bytes, entry + 4, 4))
  return list - farthest
}

/**
 * Segment after segment to the start of the image data, with a frame among them; at the end the end marker. Before a
 * marker any number of bytes of ones may stand.
 */
function measureJpeg(bytes: Uint8Array): Measure | undefined {
  if (bytes[0] !== 0xff || bytes[1] !== 0xd8) return undefined
  const end = endOfJpeg(bytes)
  if (bytes[end - 2] !== 0xff || bytes[end - 1] !== 0xd9) return undefined
  let frame: number | undefined
  let at = 2
  while (at + 4 <= end && bytes[at] === 0xff) {
    const marker = bytes[at + 1] ?? 0
    const isFiller = marker === 0xff
    if (marker === startOfScan) return frame === undefined ? undefined : frameSize(bytes, frame)
    if (isFrame(marker)) frame = at
    const length = bigEndian(bytes, at + 2, 2)
    if (!isFiller && length < 2) return undefined
    at += isFiller ? 1 : 2 + length
  }
  return undefined
}

/** A RIFF container of exactly its length, with one of the three forms of image data first. */
function measureWebp(bytes: Uint8Array): Measure | undefined {
  if (textAt(bytes, 0, 4) !== 'RIFF' || textAt(bytes, 8, 4) !== 'WEBP') return undefined
  if (littleEndian(bytes, 4, 4) + 8 !== bytes.length || bytes.length < 30) return undefined
  const type = 'image/webp'
  switch (textAt(bytes, 12, 4)) {
    case 'VP8 ':
      return { type, width: littleEndian(bytes, 26, 2) & 0x3fff, height: littleEndian(bytes, 28, 2) & 0x3fff }
    case 'VP8L': {
      const bits = littleEndian(bytes, 21, 4)
      return { type, width: (bits & 0x3fff) + 1, height: ((bits >>> 14) & 0x3fff) + 1 }
    }
    case 'VP8X':
      return { type, width: littleEndian(bytes, 24, 3) + 1, height: littleEndian(bytes, 27, 3) + 1 }
    default:
      return undefined
  }
}
