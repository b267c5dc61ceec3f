/**
 * Reads the bodies of the door's calls strictly: an unknown member, a missing one and a value of another type
 * are faults, all of them listed with their path. What a reader answers counts only while no fault was noted.
 */
import { type Decimal, dec } from '../domain/decimal.ts'
import { readDay, readInstant } from '../domain/time.ts'

/** Where and what: one line per fault. */
export interface BodyFault {
  readonly path: string
  readonly message: string
}

export type Read<T> = (raw: unknown, path: string, faults: BodyFault[]) => T

/** Notes a fault; the value that is answered is never used. */
function no<T>(faults: BodyFault[], path: string, message: string): T {
  faults.push({ path, message })
  return undefined as T
}

/** A value that `known` recognizes, undefined meaning it does not. */
export const value =
  <T>(expected: string, known: (raw: unknown) => T | undefined): Read<T> =>
  (raw, path, faults) => {
    if (raw === undefined) return no(faults, path, 'Missing value')
    return known(raw) ?? no(faults, path, `Must be ${expected}`)
  }

const typed =
  <T>(type: string, accepts: (raw: T) => boolean = () => true) =>
  (raw: unknown): T | undefined =>
    typeof raw === type && accepts(raw as T) ? (raw as T) : undefined

/** Text that a row can hold: without NUL and halves of pairs. */
const text = (accepts: (raw: string) => boolean) =>
  typed<string>('string', (raw) => !/[\0\p{Surrogate}]/u.test(raw) && accepts(raw))
export const aText = value(
  'a text that is not empty',
  text((raw) => raw.trim() !== ''),
)
export const anyText = value(
  'a text',
  text(() => true),
)
export const aBoolean = value('true or false', typed<boolean>('boolean'))
const idUpTo = (most: number) =>
  value(
    'a positive integer',
    typed<number>('number', (raw) => Number.isInteger(raw) && raw > 0 && raw <= most),
  )
export const anId = idUpTo(Number.MAX_SAFE_INTEGER)
/** An integer of 32 bits. */
export const aBrokerId = idUpTo(2 ** 31 - 1)

/** Of a number on either side of its point, as rows hold it. */
const digits = 12
/**
 * A JSON number, or its text where the digits matter. A number that a program has computed (110.00000000000001) means
 * the one that it is nearest to.
 */
const exact = (raw: unknown): Decimal | undefined => {
  const number = typeof raw === 'number' ? dec(String(raw)).toDecimalPlaces(digits) : written(raw)
  return number?.abs().lessThan(10 ** digits) ? number : undefined
}
const written = (raw: unknown): Decimal | undefined => {
  if (typeof raw !== 'string' || !/^-?\d{1,12}(\.\d{1,12})?(e-?\d{1,2})?$/.test(raw)) return undefined
  const number = dec(raw)
  return number.decimalPlaces() <= digits ? number : undefined
}
const exactWhere =
  (accepts: (number: Decimal) => boolean) =>
  (raw: unknown): Decimal | undefined => {
    const number = exact(raw)
    return number && accepts(number) ? number : undefined
  }

const inDigits = `with at most ${digits} digits before and after the point`
export const aNumber = value(`a number ${inDigits}`, exact)
export const aSize = value(
  `a number of at least 0 ${inDigits}`,
  exactWhere((number) => number.greaterThanOrEqualTo(0)),
)
export const aPositive = value(
  `a number above 0 ${inDigits}`,
  exactWhere((number) => number.greaterThan(0)),
)

/** An instant as ISO text; without offset it is UTC. */
export const aMoment = value('an ISO 8601 date-time', (raw) =>
  typeof raw === 'string' ? readInstant(raw) : undefined,
)
export const aDate = value('a date YYYY-MM-DD', (raw) =>
  typeof raw === 'string' && readDay(raw.slice(0, 10)) !== undefined && readInstant(raw) !== undefined
    ? raw.slice(0, 10)
    : undefined,
)

/** One of several words, each with what it means; a code of digits may come as a number. */
export const word = <T>(meanings: Readonly<Record<string, T>>): Read<T> =>
  value(`one of ${Object.keys(meanings).join(', ')}`, (raw) => {
    const text = typeof raw === 'number' ? String(raw) : raw
    return typeof text === 'string' && Object.hasOwn(meanings, text) ? meanings[text] : undefined
  })

/** One of several words, each of which means itself. */
export const choice = <const Word extends string>(...words: readonly Word[]): Read<Word> =>
  word(Object.fromEntries(words.map((text) => [text, text])) as Record<string, Word>)

/** Reads what may be missing or null. */
export const withDefault =
  <T>(read: Read<T>, standard: T): Read<T> =>
  (raw, path, faults) =>
    raw === undefined || raw === null ? standard : read(raw, path, faults)

/** May be absent or null. */
export const maybe = <T>(read: Read<T>): Read<T | undefined> => withDefault<T | undefined>(read, undefined)

type Members = Readonly<Record<string, Read<unknown>>>
type ObjectOf<M extends Members> = { readonly [K in keyof M]: M[K] extends Read<infer T> ? T : never }

/** An object with these members and no others. */
export const object =
  <M extends Members>(members: M): Read<ObjectOf<M>> =>
  (raw, path, faults) => {
    if (typeof raw !== 'object' || raw === null || Array.isArray(raw))
      return no(faults, path, 'Must be an object')
    const at = (name: string): string => (path === '' ? name : `${path}.${name}`)
    for (const name of Object.keys(raw)) {
      if (!Object.hasOwn(members, name))
        no(faults, at(name), `Unknown member; known: ${Object.keys(members).join(', ')}`)
    }
    const read = Object.entries(members).map(([name, member]) => [
      name,
      member((raw as Record<string, unknown>)[name], at(name), faults),
    ])
    return Object.fromEntries(read) as ObjectOf<M>
  }

/** A list; one object alone counts as a list of one. */
export const list =
  <T>(read: Read<T>): Read<readonly T[]> =>
  (raw, path, faults) => {
    if (raw === undefined) return no(faults, path, 'Must be a list')
    if (!Array.isArray(raw)) return [read(raw, `${path}[0]`, faults)]
    return raw.map((item, place) => read(item, `${path}[${place}]`, faults))
  }

/** An object that holds exactly one of the members. */
export const oneOf =
  <M extends Members>(members: M): Read<Partial<ObjectOf<M>>> =>
  (raw, path, faults) => {
    const names = typeof raw === 'object' && raw !== null ? Object.keys(raw) : []
    const [name] = names
    if (names.length !== 1 || name === undefined || !Object.hasOwn(members, name))
      return no(faults, path, `Must hold exactly one of ${Object.keys(members).join(', ')}`)
    const read = members[name]?.((raw as Record<string, unknown>)[name], name, faults)
    return { [name]: read } as Partial<ObjectOf<M>>
  }
