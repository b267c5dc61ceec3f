/**
 * Bad input, made from the table of operations: for each parameter of an operation every way in which it can be
 * wrong. A body's value is given as JSON text, so that what no serializer writes (NaN, numbers of 400 digits,
 * a name twice) can be sent as well.
 */
import type { Field, Members, Shape } from '../../../src/contract/schema.ts'

/** refused: 400, naming the parameter. read: well-formed, so nothing is said against it. */
export type Expectation = 'refused' | 'read'

/** Undefined takes the parameter away. */
export interface BodyMutation {
  readonly path: readonly string[]
  readonly json: string | undefined
  readonly expected: Expectation
}

export interface QueryMutation {
  readonly name: string
  /** Percent-encoded values, each given once. */
  readonly values: readonly string[]
  readonly expected: Expectation
}

type Kind = Shape['kind']
type ShapeOf<K extends Kind> = Extract<Shape, { kind: K }>

const digits = (count: number): string => '9'.repeat(count)
const beyondI64 = ['9223372036854775808', '-9223372036854775809', `1${'0'.repeat(30)}`, digits(400)]
const beyondI32 = ['2147483648', '-2147483649']
const withinI64 = [
  '0',
  '-1',
  '2147483648',
  '9007199254740991',
  '9007199254740993',
  '9223372036854775807',
  '-9223372036854775808',
]

/** Types that a value of this kind must not have. */
const otherTypes: Readonly<Record<Kind, readonly string[]>> = {
  integer: ['"12"', 'true', 'false', '[1]', '[[1]]', '{}', '"NaN"', '"Infinity"', '1.5', '""'],
  number: ['"1"', 'true', '[1]', '[[1]]', '{}', '"NaN"', '"Infinity"', '""'],
  text: ['1', '0.5', 'true', '["x"]', '{}'],
  boolean: ['"true"', '1', '0', '"1"', '"True"', '[true]', '{}', '""'],
  instant: ['1710252000', 'true', '["2026-01-01"]', '{}', '"yesterday"', '"1710252000"'],
  code: ['1', 'true', '[]', '{}', '"22"', '"z"', '" 1"', '"１"'],
  array: ['1', '"x"', '{}', 'true'],
  object: ['1', '"x"', '[]', '[{}]', 'true', '""'],
  signal: [],
}

/** Texts that mean something to somebody else. */
export const probes = [
  '%',
  '_',
  '\\',
  '%a'.repeat(100),
  "'; drop table person;--",
  '{{7*7}}',
  '../../../etc/passwd',
  '=cmd|calc',
  '<img src=x>',
  '\r\nSet-Cookie: a=b',
  'مرحبا',
  'a\u200bb',
  '🙂',
  'А́',
  `e${'\u0301'.repeat(200)}`,
  '\u0001\u001f',
]
const wrongDates = [
  '2026-02-30',
  '2026-13-01',
  '2026-01-01T24:00:00Z',
  '2026-01-01T23:59:60Z',
  '0000-01-01',
  '10000-01-01',
  '2026-1-1',
  '01/02/2026',
  '2026-01-01T00:00:00+25:00',
]
const rightDates = [
  '2026-01-01',
  '2026-01-01T00:00:00',
  '2026-01-01T00:00:00+14:00',
  '9999-12-31',
  '2024-02-29T12:00:00.123Z',
]

function integers(shape: ShapeOf<'integer'>): { refused: string[]; read: string[] } {
  const { bits, min, max } = shape
  const refused = [
    ...beyondI64,
    ...(bits === 32 && shape.clamp === undefined ? beyondI32.slice(0, 1) : []),
    ...(bits === 32 ? beyondI32.slice(1) : []),
  ]
  if (min !== undefined) refused.push(String(min - 1), '-5')
  if (max !== undefined) refused.push(String(max + 1))
  const isPlain = bits === 64 && min === undefined && max === undefined && shape.clamp === undefined
  // What is too much for a page is lowered.
  const clamped = shape.clamp === undefined ? [] : [shape.clamp, shape.clamp + 1].map(String)
  return { refused, read: isPlain ? withinI64 : clamped }
}

/** Lists that are too long, too short or hold what they must not; their elements one by one. */
function lists({ items, min = 0, max, unique }: ShapeOf<'array'>): { refused: string[]; read: string[] } {
  const ofOne = bodyValues(items)
  const refused = ofOne.refused.map((json) => `[${json}]`)
  if (items.shape.kind !== 'object') refused.push('[[]]', '[null]')
  if (unique) refused.push('[1,1]', '[2,1,2]')
  const some = (length: number) => JSON.stringify(Array.from({ length }, (_, place) => place + 1))
  if (max !== undefined) refused.push(some(max + 1), some(30_000))
  if (min > 0) refused.push('[]')
  return { refused, read: min > 0 ? [] : ['[]'] }
}

function numbers({ sign }: ShapeOf<'number'>): { refused: string[]; read: string[] } {
  const refused = [
    'NaN',
    'Infinity',
    '-Infinity',
    '1e309',
    '1e-400',
    `0.${'1'.repeat(30)}`,
    digits(400),
    '01',
    '1.',
    '.5',
    '+1',
    '0x10',
    '1000000000000',
    '0.000000001',
  ]
  if (sign === 'positive') refused.push('0', '-0', '-1', '-0.01')
  return { refused, read: ['1', '1.0', '1e2', '0.30000001'] }
}

/** What is refused and what is read of a value, as JSON texts. */
function bodyValues(field: Field): { refused: string[]; read: string[] } {
  const { shape } = field
  const refused = [...otherTypes[shape.kind]]
  if (shape.kind === 'integer') {
    const more = integers(shape)
    return { refused: [...refused, 'NaN', 'Infinity', '1e400', ...more.refused], read: more.read }
  }
  if (shape.kind === 'number') {
    const more = numbers(shape)
    return { refused: [...refused, ...more.refused], read: more.read }
  }
  if (shape.kind === 'text') {
    const long = shape.maxLength === undefined ? [] : [JSON.stringify('x'.repeat(shape.maxLength + 1))]
    const blank = field.presence === 'always' ? ['""', '"   "'] : []
    const unreadable = ['"a\\u0000b"', '"\\ud800"', '"\\udfff\\ud800"']
    const read = shape.pattern === undefined ? probes.map((text) => JSON.stringify(text)) : []
    return { refused: [...refused, ...long, ...blank, ...unreadable], read }
  }
  if (shape.kind === 'code') {
    const letters = shape.values.filter((value) => value.toLowerCase() !== value)
    const lower = letters.map((value) => JSON.stringify(value.toLowerCase()))
    return { refused: [...refused, '""', ...lower], read: shape.values.map((value) => JSON.stringify(value)) }
  }
  if (shape.kind === 'instant') {
    const texts = (values: readonly string[]): string[] => values.map((value) => JSON.stringify(value))
    return { refused: [...refused, ...texts(wrongDates)], read: texts(rightDates) }
  }
  if (shape.kind === 'array') {
    const more = lists(shape)
    return { refused: [...refused, ...more.refused], read: more.read }
  }
  return { refused, read: [] }
}

/** The members of an object, or of the first element of a list of objects. */
function innerMutations({ shape }: Field, path: readonly string[]): BodyMutation[] {
  if (shape.kind === 'object') return bodyMutations(shape.members, path)
  return shape.kind === 'array' ? innerMutations(shape.items, [...path, '0']) : []
}

/** How a fault names what stands at a path. */
export const faultName = (path: readonly string[]): string => path.join('.').replaceAll(/\.(\d+)/g, '[$1]')

/** Every mutation of the members of a body, nested ones included; what the example does not hold is added. */
export function bodyMutations(members: Members, at: readonly string[] = []): BodyMutation[] {
  return Object.entries(members).flatMap(([name, field]) => {
    if (field.compatOnly || field.ignored) return []
    const path = [...at, name]
    const { refused, read } = bodyValues(field)
    const isMandatory = field.presence === 'always'
    const absent: BodyMutation[] = isMandatory ? [{ path, json: undefined, expected: 'refused' }] : []
    const nothing: BodyMutation = { path, json: 'null', expected: field.nullable ? 'read' : 'refused' }
    const inner = innerMutations(field, path)
    return [
      ...absent,
      nothing,
      ...refused.map((json): BodyMutation => ({ path, json, expected: 'refused' })),
      ...read.map((json): BodyMutation => ({ path, json, expected: 'read' })),
      ...inner,
    ]
  })
}

const encoded = (values: readonly string[]): string[] => values.map((value) => encodeURIComponent(value))
const noNumbers = [
  'abc',
  '1.0',
  '1e3',
  '0x10',
  '%2B5',
  '+5',
  '%205',
  '5%20',
  '5;',
  encodeURIComponent('٥'),
  '1_000',
  '--1',
  'null',
  'true',
]

function queryValues(field: Field): { refused: string[]; read: string[] } {
  const { shape } = field
  switch (shape.kind) {
    case 'array':
      return queryValues({ ...shape.items, presence: field.presence })
    case 'integer': {
      const { refused, read } = integers(shape)
      return { refused: [...noNumbers, ...refused], read }
    }
    case 'boolean':
      return {
        refused: ['true1', 'TRUE', 'True', '1', '0', 'yes', 'null', '%20true'],
        read: ['true', 'false'],
      }
    case 'code': {
      const lower = shape.values
        .map((value) => value.toLowerCase())
        .filter((value) => !shape.values.includes(value))
      return { refused: ['22', 'zz', '%201', ...lower], read: [...shape.values] }
    }
    case 'instant':
      return { refused: [...encoded(wrongDates), '1710252000', 'yesterday'], read: encoded(rightDates) }
    case 'text': {
      const long = shape.maxLength === undefined ? [] : ['x'.repeat(shape.maxLength + 1)]
      const unreadable = ['a%00b', '%ED%A0%80', '%ff', '%', '%zz']
      return { refused: [...long, ...unreadable], read: shape.pattern ? [] : encoded(probes) }
    }
    case 'number':
    case 'object':
    case 'signal':
      throw new Error(`a query has no ${shape.kind}`)
  }
}

/** Every mutation of the parameters of a query, the paging's own left out where `Cursor` is read by its text. */
export function queryMutations(members: Members): QueryMutation[] {
  return Object.entries(members).flatMap(([name, field]) => {
    if (field.compatOnly || name === 'Cursor') return []
    const { refused, read } = queryValues(field)
    const isMandatory = field.presence === 'always'
    const sample = read[0] ?? (field.shape.kind === 'integer' ? '5' : 'x')
    const given = (values: readonly string[], expected: Expectation): QueryMutation => ({
      name,
      values,
      expected,
    })
    return [
      ...(isMandatory ? [given([], 'refused'), given([''], 'refused'), given(['%20%20'], 'refused')] : []),
      ...(field.shape.kind === 'array'
        ? []
        : [given([sample, sample], 'refused'), given([sample, ''], 'refused')]),
      ...refused.map((value) => given([value], 'refused')),
      ...read.map((value) => given([value], 'read')),
    ]
  })
}
