/**
 * What a member of a vector may hold, checked before an op runs. A text where a number belongs, a list in place of an
 * object or a quantity below zero otherwise fails deep in a rule, without the name of the member, or is computed with.
 */
import { readDay, readInstant } from '../../../src/domain/time.ts'
import { oneOf } from './codes.ts'

/** Throws an error that names the place where the value is not what it has to be; what is absent is undefined. */
export type Shape = (value: unknown, place: string) => void

const shown = (value: unknown): string =>
  typeof value === 'number' ? `${value}` : (JSON.stringify(value) ?? 'missing')

/** A shape of what satisfies a test; what is absent passes. */
const shape =
  (isRight: (value: unknown) => boolean, needed: string): Shape =>
  (value, place) => {
    if (value === undefined || isRight(value)) return
    throw new Error(`${place || 'the input'} is ${shown(value)}; ${needed}`)
  }

const decimalText = /^[+-]?(\d+\.?\d*|\.\d+)(e[+-]?\d+)?$/i

/** The number of a member, or of its text; NaN where it is neither. */
function numberOf(value: unknown): number {
  if (typeof value === 'string') return decimalText.test(value) ? Number(value) : Number.NaN
  return typeof value === 'number' ? value : Number.NaN
}

const isNumber = (value: unknown): boolean => Number.isFinite(numberOf(value))
const isObject = (value: unknown): value is object => typeof value === 'object' && value !== null
const isId = (value: unknown): boolean => typeof value === 'string' || Number.isFinite(value)
const isMoment = (value: unknown): boolean =>
  typeof value === 'string' ? readInstant(value) !== undefined : Number.isFinite(value)
const isDay = (value: unknown): boolean =>
  typeof value === 'string' && (readDay(value) ?? readInstant(value)) !== undefined

export const number = shape(isNumber, 'a number is needed')
/** A quantity or amount that has no side. */
export const size = shape((value) => isNumber(value) && numberOf(value) >= 0, 'a number from 0 is needed')
export const positive = shape((value) => isNumber(value) && numberOf(value) > 0, 'a number above 0 is needed')
export const flag = shape((value) => typeof value === 'boolean', 'true or false is needed')
export const name = shape((value) => typeof value === 'string', 'a text is needed')
export const id = shape(isId, 'a text or a number is needed')
export const time = shape(isMoment, 'a time is needed: seconds or a date-time')
export const day = shape(isDay, 'a date is needed')

/** One of the codes, as text or as a number. */
export const code =
  (...codes: readonly string[]): Shape =>
  (value, place) => {
    if (value !== undefined) oneOf(place, isObject(value) ? JSON.stringify(value) : value, codes)
  }

export const either =
  (first: Shape, second: Shape): Shape =>
  (value, place) => {
    try {
      first(value, place)
    } catch {
      second(value, place)
    }
  }

export const required =
  (inner: Shape): Shape =>
  (value, place) => {
    if (value === undefined) throw new Error(`${place || 'the input'} is missing`)
    inner(value, place)
  }

const object = shape((value) => isObject(value) && !Array.isArray(value), 'an object is needed')
const list = shape(Array.isArray, 'a list is needed')
const within = (place: string, member: string): string => (place === '' ? member : `${place}.${member}`)

/** An object with members of these shapes; others are not looked at. */
export const members =
  (shapes: Readonly<Record<string, Shape>>): Shape =>
  (value, place) => {
    object(value, place)
    if (!isObject(value)) return
    const given = new Map<string, unknown>(Object.entries(value))
    for (const [member, check] of Object.entries(shapes)) check(given.get(member), within(place, member))
  }

/** An object whose members have names of their own and one shape. */
export const named =
  (each: Shape): Shape =>
  (value, place) => {
    object(value, place)
    for (const [member, inner] of Object.entries(value ?? {})) each(inner, within(place, member))
  }

export const rows =
  (each: Shape): Shape =>
  (value, place) => {
    list(value, place)
    for (const [at, row] of (Array.isArray(value) ? value : []).entries()) each(row, `${place}[${at}]`)
  }

export const memberOf = (value: unknown, member: string): unknown =>
  isObject(value) ? new Map<string, unknown>(Object.entries(value)).get(member) : undefined

/** Rows no two of which have the same value of the member: a second one would take the place of the first, or both act. */
export const distinct =
  (member: string, each: Shape): Shape =>
  (value, place) => {
    rows(each)(value, place)
    const first = new Map<string, number>()
    for (const [at, row] of (Array.isArray(value) ? value : []).entries()) {
      const key = String(memberOf(row, member))
      const before = first.get(key)
      if (before !== undefined)
        throw new Error(`${place}[${at}].${member} is that of ${place}[${before}] again: ${key}`)
      first.set(key, at)
    }
  }

/** An object whose other members depend on the code in one of them. */
export const byCode =
  (member: string, shapes: Readonly<Record<string, Shape>>): Shape =>
  (value, place) => {
    members({ [member]: required(code(...Object.keys(shapes))) })(value, place)
    new Map(Object.entries(shapes)).get(String(memberOf(value, member)))?.(value, place)
  }
