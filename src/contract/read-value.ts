/**
 * Reading one value of a request: from parsed JSON by exact type, from text (query strings, and numbers that
 * the compat dialect admits as strings) by exact spelling. Nothing is rounded and nothing is guessed. A value
 * that is refused leaves a fault and reads as undefined.
 */
import { dayLength, type Instant, instantAt, newYork, readDay, readInstant } from '../domain/time.ts'
import { type Faults, fault } from './faults.ts'
import type { Dialect, Shape } from './schema.ts'

/** Reads a raw value found at a path. */
export type Read = (raw: unknown, path: string, faults: Faults) => unknown

type ShapeOf<Kind extends Shape['kind']> = Extract<Shape, { kind: Kind }>
type Scalar = ShapeOf<'integer' | 'number' | 'text' | 'boolean' | 'instant' | 'code'>

const i64Max = 2n ** 63n - 1n
const i64Min = -(2n ** 63n)
const i32Max = 2 ** 31 - 1
const i32Min = -(2 ** 31)
const integerText = /^-?[0-9]+$/
const numberText = /^-?(?:0|[1-9][0-9]*)(?:\.[0-9]+)?(?:[eE][+-]?[0-9]+)?$/
const surrogate = /[\ud800-\udfff]/
const loneSurrogate = /\p{Cs}/u
const numberLimit = 1e12
const decimalsMax = 8
/** The first millisecond of the year 1, and the last one of 9999. */
const instantMin: Instant = -62_135_596_800_000
const instantMax: Instant = 253_402_300_799_999

const wrong = (words: string): Read => {
  return (_raw, path, faults) => fault(faults, 'InvalidParameter', path, words)
}

function boundInteger(value: bigint, shape: ShapeOf<'integer'>): number | bigint | undefined {
  if (value > i64Max || value < i64Min) return undefined
  if (shape.clamp !== undefined && value > shape.clamp) return shape.clamp
  const min = shape.min ?? (shape.bits === 32 ? i32Min : i64Min)
  const max = shape.max ?? (shape.bits === 32 ? i32Max : i64Max)
  if (value < min || value > max) return undefined
  return value >= Number.MIN_SAFE_INTEGER && value <= Number.MAX_SAFE_INTEGER ? Number(value) : value
}

/** Where the contract sets limits whoever is refused is told them; what no integer of the width holds meets none. */
function rangeWords(value: bigint, { min, max }: ShapeOf<'integer'>): string {
  if (min === undefined) return 'Out of range'
  if (max !== undefined) return `Must be from ${min} to ${max}`
  return value < min ? `Must be at least ${min}` : 'Out of range'
}

const bounded = (value: bigint, shape: ShapeOf<'integer'>, path: string, faults: Faults) =>
  boundInteger(value, shape) ?? fault(faults, 'InvalidParameter', path, rangeWords(value, shape))

const isPlainInteger = (shape: ShapeOf<'integer'>): boolean =>
  shape.bits === 64 && shape.min === undefined && shape.max === undefined && shape.clamp === undefined

function integerFromJson(shape: ShapeOf<'integer'>): Read {
  const plain = isPlainInteger(shape)
  return (raw, path, faults) => {
    if (typeof raw === 'number' && plain && Number.isSafeInteger(raw)) return raw + 0
    if (typeof raw !== 'bigint' && !(typeof raw === 'number' && Number.isInteger(raw)))
      return fault(faults, 'InvalidParameter', path, 'Must be an integer')
    return bounded(BigInt(raw), shape, path, faults)
  }
}

function integerFromText(shape: ShapeOf<'integer'>, malformed: Read): Read {
  return (raw, path, faults) => {
    const text = raw as string
    if (!integerText.test(text)) return malformed(raw, path, faults)
    return bounded(BigInt(text), shape, path, faults)
  }
}

/** Digits without leading and trailing zeros, and the power of ten of the first one: equal for equal numbers. */
function canonical(text: string): string {
  const [mantissa = '', exponent = '0'] = text.toLowerCase().replace(/^-/, '').split('e')
  const [whole = '', fraction = ''] = mantissa.split('.')
  const digits = (whole + fraction).replace(/^0+/, '')
  const leading = whole.length + fraction.length - digits.length
  // No pattern for these: one would try every zero inside a long number as the first of the last ones.
  let end = digits.length
  while (digits[end - 1] === '0') end--
  return `${digits.slice(0, end)}@${digits === '' ? 0 : whole.length - leading + Number(exponent)}`
}

/** The double that a decimal text denotes exactly by its shortest text; undefined when there is none. */
export function exactNumber(text: string): number | undefined {
  if (!numberText.test(text)) return undefined
  const value = Number(text)
  return isSameDecimal(text, value) ? value : undefined
}

/** Whether a double prints as the decimal that was written. */
export const isSameDecimal = (text: string, value: number): boolean =>
  canonical(text) === canonical(String(value))

function decimalsOf(value: number): number {
  if (Number.isInteger(value)) return 0
  // Below a million the product keeps the ninth decimal apart from an integer.
  if (Math.abs(value) < 1e6 && Number.isInteger(value * 1e8)) return decimalsMax
  const [mantissa = '', exponent = '0'] = String(value).split('e')
  return (mantissa.split('.')[1]?.length ?? 0) - Number(exponent)
}

/** What is wrong with a number, in words. */
function numberFault(value: number, { sign }: ShapeOf<'number'>, dialect: Dialect): string | undefined {
  if (!(Math.abs(value) < numberLimit)) return 'Out of range'
  if (sign === 'positive' && value <= 0) return 'Must be above 0'
  if (sign === 'nonzero' && value === 0 && dialect === 'native') return 'Must not be 0'
  return decimalsOf(value) > decimalsMax ? `At most ${decimalsMax} decimals` : undefined
}

function boundNumber(
  value: number,
  shape: ShapeOf<'number'>,
  dialect: Dialect,
  path: string,
  faults: Faults,
) {
  const words = numberFault(value, shape, dialect)
  return words === undefined ? value + 0 : fault(faults, 'InvalidParameter', path, words)
}

function numberFromJson(shape: ShapeOf<'number'>, dialect: Dialect): Read {
  return (raw, path, faults) => {
    if (typeof raw === 'bigint') return fault(faults, 'InvalidParameter', path, 'Out of range')
    if (typeof raw !== 'number') {
      // A number that no double holds arrives as its text, in an object.
      return fault(faults, 'InvalidParameter', path, inexactWords(Object.hasOwn(Object(raw), 'inexact')))
    }
    return boundNumber(raw, shape, dialect, path, faults)
  }
}

/** Of text that is no number, or one that no double holds. */
const wrongNumber: Read = (raw, path, faults) =>
  fault(faults, 'InvalidParameter', path, inexactWords(numberText.test(raw as string)))

const inexactWords = (isNumber: boolean): string =>
  isNumber ? 'Must be an exact number' : 'Must be a number'

function numberFromText(shape: ShapeOf<'number'>, dialect: Dialect, malformed: Read): Read {
  return (raw, path, faults) => {
    const value = exactNumber(raw as string)
    if (value === undefined) return malformed(raw, path, faults)
    return boundNumber(value, shape, dialect, path, faults)
  }
}

function readText(shape: ShapeOf<'text'>, dialect: Dialect, malformed: Read): Read {
  const maxLength = shape.maxLength ?? Number.POSITIVE_INFINITY
  const mayBeNumber = shape.isCode === true && dialect === 'compat'
  return (given, path, faults) => {
    const raw = mayBeNumber && typeof given === 'number' ? String(given) : given
    if (typeof raw !== 'string') return fault(faults, 'InvalidParameter', path, 'Must be text')
    if (raw.includes('\0') || (surrogate.test(raw) && loneSurrogate.test(raw)))
      return fault(faults, 'InvalidParameter', path, 'Must be well-formed text without NUL')
    if (raw.length > maxLength && [...raw].length > maxLength)
      return fault(faults, 'InvalidParameter', path, `At most ${maxLength} characters`)
    return shape.pattern?.test(raw) === false ? malformed(raw, path, faults) : raw
  }
}

function readCode({ values }: ShapeOf<'code'>, dialect: Dialect): Read {
  const known = new Set(values)
  const refuse = wrong(`Must be one of ${values.join(', ')}`)
  return (raw, path, faults) => {
    const spelled = dialect === 'compat' && typeof raw === 'number' ? String(raw) : raw
    return known.has(spelled as string) ? spelled : refuse(raw, path, faults)
  }
}

const offsetWithoutPlus = /[T ]\S+ \d\d:?\d\d$/

function readMoment(shape: ShapeOf<'instant'>, dialect: Dialect, isMandatory: boolean): Read {
  const zone = shape.edge === 'local' && dialect === 'compat' ? newYork : 'UTC'
  const malformed = malformedAs(isMandatory, 'Must be an ISO 8601 date or date-time')
  const unescaped = malformedAs(isMandatory, 'Must be an ISO 8601 date or date-time; in a query + is %2B')
  return (raw, path, faults) => {
    if (typeof raw !== 'string')
      return fault(faults, 'InvalidParameter', path, 'Must be a date or a date-time')
    const day = readDay(raw)
    const start = day === undefined ? readInstant(raw, zone) : instantAt(day, 0, zone)
    if (start === undefined || start < instantMin || start > instantMax)
      return (offsetWithoutPlus.test(raw) ? unescaped : malformed)(raw, path, faults)
    if (shape.edge !== 'end') return start
    return day === undefined ? start + (start % 1000 === 0 ? 999 : 0) : start + dayLength - 1
  }
}

/** Malformed text is 1102 where the parameter is mandatory, otherwise 1130. */
const malformedAs =
  (isMandatory: boolean, words: string): Read =>
  (_raw, path, faults) =>
    fault(faults, isMandatory ? 'MalformedValue' : 'InvalidParameter', path, words)

const likeExample = ({ example }: ShapeOf<'text'>): string =>
  example === undefined ? 'Malformed value' : `Malformed value; one that fits: ${example}`

/** The reader of a scalar in a JSON body. */
export function scalarFromJson(shape: Scalar, dialect: Dialect, isMandatory: boolean): Read {
  switch (shape.kind) {
    case 'integer':
      return orText(integerFromJson(shape), integerFromText(shape, wrong('Must be an integer')), dialect)
    case 'number':
      return orText(numberFromJson(shape, dialect), numberFromText(shape, dialect, wrongNumber), dialect)
    case 'boolean':
      return (raw, path, faults) =>
        typeof raw === 'boolean' ? raw : fault(faults, 'InvalidParameter', path, 'Must be true or false')
    case 'text':
    case 'instant':
    case 'code':
      return textual(shape, dialect, isMandatory)
  }
}

/** The compat dialect admits numbers as strings. */
const orText = (fromJson: Read, fromText: Read, dialect: Dialect): Read =>
  dialect === 'native'
    ? fromJson
    : (raw, path, faults) => (typeof raw === 'string' ? fromText : fromJson)(raw, path, faults)

const truths: Record<Dialect, ReadonlyMap<unknown, boolean>> = {
  native: new Map([
    ['true', true],
    ['false', false],
  ]),
  compat: new Map([
    ['true', true],
    ['True', true],
    ['1', true],
    ['false', false],
    ['False', false],
    ['0', false],
  ]),
}

/** The reader of a scalar in a query string. */
export function scalarFromText(shape: Scalar, dialect: Dialect, isMandatory: boolean): Read {
  switch (shape.kind) {
    case 'integer':
      return integerFromText(shape, malformedAs(isMandatory, 'Must be an integer'))
    case 'number':
      return numberFromText(shape, dialect, malformedAs(isMandatory, 'Must be an exact number'))
    case 'boolean': {
      const malformed = malformedAs(isMandatory, 'Must be true or false')
      return (raw, path, faults) => truths[dialect].get(raw) ?? malformed(raw, path, faults)
    }
    case 'text':
    case 'instant':
    case 'code':
      return textual(shape, dialect, isMandatory)
  }
}

function textual(shape: ShapeOf<'text' | 'instant' | 'code'>, dialect: Dialect, isMandatory: boolean): Read {
  if (shape.kind === 'code') return readCode(shape, dialect)
  return shape.kind === 'text'
    ? readText(shape, dialect, malformedAs(isMandatory, likeExample(shape)))
    : readMoment(shape, dialect, isMandatory)
}
