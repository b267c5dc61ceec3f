/**
 * Reading the parameters of a request. A reader is compiled once per row, host and dialect; it answers the
 * typed parameters or every fault it found. Names are looked up among the request's own members only, so no
 * name of a request ever reaches a prototype.
 */

import type { Fault } from './errors.ts'
import { type Faults, fault, isRefusedAt } from './faults.ts'
import { type Read, scalarFromJson, scalarFromText } from './read-value.ts'
import { type Row, takesBody } from './row.ts'
import { type Audience, type Dialect, type Field, isKnownTo, type Members, nameIn } from './schema.ts'

/** A query string as the edge split it: each name with its values in order. */
type Query = ReadonlyMap<string, readonly string[]>
type Params = Record<string, unknown>
export type Input = { params: Readonly<Params> } | { faults: readonly Fault[] }

interface Member {
  readonly index: number
  readonly key: string
  readonly name: string
  readonly field: Field
  readonly isMandatory: boolean
  readonly isText: boolean
  readonly read: Read
}

type Compile = (field: Field, to: Audience, isMandatory: boolean) => Read

/** The members that this audience knows, by the spelling under which they are looked up. */
function known(members: Members, to: Audience, compile: Compile): ReadonlyMap<string, Member> {
  const entries = Object.entries(members).filter(([, field]) => isKnownTo(field, to))
  return new Map(
    entries.map(([key, field], index) => {
      const name = nameIn(to.dialect, key, field)
      const isMandatory = field.presence === 'always'
      const isText =
        field.shape.kind === 'text' || field.shape.kind === 'code' || field.shape.kind === 'instant'
      const read = field.ignored ? ignore : compile(field, to, isMandatory)
      return [spelled(name, to.dialect), { index, key, name, field, isMandatory, isText, read }]
    }),
  )
}

const ignore: Read = () => undefined
const spelled = (name: string, dialect: Dialect): string => (dialect === 'native' ? name : name.toLowerCase())

/** Reads named raw values into an object with the documented names. */
function readMembers(
  members: ReadonlyMap<string, Member>,
  dialect: Dialect,
  names: Iterable<string>,
  rawOf: (name: string) => unknown,
  at: string,
  faults: Faults,
): Params {
  const found: Params = {}
  const seen: boolean[] = []
  for (const name of names) {
    const member = members.get(spelled(name, dialect))
    if (member === undefined) {
      if (dialect === 'native') fault(faults, 'InvalidParameter', at + name, 'Unknown name')
    } else if (seen[member.index]) {
      fault(faults, 'InvalidParameter', at + member.name, 'Given more than once')
    } else {
      const raw = rawOf(name)
      if (isAbsent(raw, member, dialect)) continue
      seen[member.index] = true
      const value = member.read(raw, at + member.name, faults)
      if (value !== undefined) found[member.key] = value
    }
  }
  for (const member of members.values()) {
    if (seen[member.index]) continue
    if (member.isMandatory) fault(faults, 'MissingValue', at + member.name)
    else if (member.field.default !== undefined) found[member.key] = member.field.default
  }
  return found
}

/** Missing: null where the documents allow it, or in compat, and text that says nothing, as in a query. */
function isAbsent(raw: unknown, member: Member, dialect: Dialect): boolean {
  const { isMandatory, isText, field } = member
  if (raw === null) return isMandatory || field.nullable === true || dialect === 'compat'
  if (raw === undefined) return true
  if (field.zeroIsNone && dialect === 'compat' && isZero(raw)) return true
  return typeof raw === 'string' && isText && isEmptyInBody(raw, member, dialect)
}

const isZero = (raw: unknown): boolean => raw === 0 || (typeof raw === 'string' && /^0(?:\.0+)?$/.test(raw))

/** As in a query, but for dates and for text that has a form: something was meant that could not be said. */
function isEmptyInBody(raw: string, member: Member, dialect: Dialect): boolean {
  const { shape } = member.field
  const hasForm = shape.kind === 'instant' || (shape.kind === 'text' && shape.pattern !== undefined)
  return (member.isMandatory || !hasForm) && isEmptyText([raw], member, dialect)
}

function objectFromJson(members: Members, to: Audience): Read {
  const own = known(members, to, fromJson)
  return (raw, path, faults) => {
    if (typeof raw !== 'object' || raw === null || Array.isArray(raw))
      return fault(faults, 'InvalidParameter', path || 'Body', 'Must be an object')
    const holder = raw as Params
    const at = path === '' ? '' : `${path}.`
    return readMembers(own, to.dialect, Object.keys(holder), (name) => holder[name], at, faults)
  }
}

type ArrayShape = Extract<Field['shape'], { kind: 'array' }>

function elements(
  shape: ArrayShape,
  read: Read,
  raw: readonly unknown[],
  path: string,
  faults: Faults,
): unknown {
  const { min = 0, max = Number.POSITIVE_INFINITY } = shape
  if (raw.length < min) return fault(faults, 'InvalidParameter', path, `At least ${min} elements`)
  if (raw.length > max) return fault(faults, 'InvalidParameter', path, `At most ${max} elements`)
  const values = raw.map((item, index) => read(item, `${path}[${index}]`, faults))
  const given = values.filter((value) => value !== undefined)
  if (shape.unique && new Set(given).size < given.length)
    return fault(faults, 'InvalidParameter', path, 'Elements must be unique')
  return values
}

/** The reader of a field in a JSON body. */
function fromJson(field: Field, to: Audience, isMandatory: boolean): Read {
  const { shape } = field
  if (shape.kind === 'object') return objectFromJson(shape.members, to)
  if (shape.kind === 'signal') throw new Error('a signal is never a parameter')
  if (shape.kind === 'array') {
    const read = fromJson(shape.items, to, false)
    return (raw, path, faults) =>
      Array.isArray(raw)
        ? elements(shape, read, raw, path, faults)
        : fault(faults, 'InvalidParameter', path, 'Must be an array')
  }
  const read = scalarFromJson(shape, to.dialect, isMandatory)
  return (raw, path, faults) =>
    raw === null ? fault(faults, 'InvalidParameter', path, 'Must not be null') : read(raw, path, faults)
}

/** The reader of a field in a query string; it gets all values of its name. */
function fromQuery(field: Field, to: Audience, isMandatory: boolean): Read {
  const { shape } = field
  if (shape.kind === 'array') {
    const read = fromQuery(shape.items, to, isMandatory)
    return (raw, path, faults) => {
      const items = (raw as readonly string[]).flatMap((text) => text.split(','))
      // The list has one name, however it was divided: a wrong element is a fault of that name, once.
      const readItem: Read = (item, _, list) =>
        isRefusedAt(list, path) ? undefined : read([item], path, list)
      return elements(shape, readItem, items, path, faults)
    }
  }
  if (shape.kind === 'object' || shape.kind === 'signal') throw new Error('a query has no objects')
  const read = scalarFromText(shape, to.dialect, isMandatory)
  return (raw, path, faults) => {
    const [text, ...others] = raw as readonly string[]
    return others.length > 0
      ? fault(faults, 'InvalidParameter', path, 'Given more than once')
      : read(text, path, faults)
  }
}

/** Empty means absent where nothing else can be meant: mandatory parameters, text, and everything in compat. */
function isEmptyText(values: readonly string[], { isMandatory, field }: Member, dialect: Dialect): boolean {
  if (values.some((value) => value.trim() !== '')) return false
  return (
    isMandatory ||
    dialect === 'compat' ||
    (field.shape.kind === 'text' && values.every((value) => value === ''))
  )
}

function queryReader(members: Members, to: Audience): (query: Query, faults: Faults) => Params {
  const own = known(members, to, fromQuery)
  const valuesOf = (query: Query, name: string): unknown => {
    const values = query.get(name) ?? []
    return isEmptyText(values, own.get(spelled(name, to.dialect)) as Member, to.dialect) ? undefined : values
  }
  return (sent, faults) => {
    const query = to.dialect === 'native' ? sent : folded(sent)
    return readMembers(own, to.dialect, query.keys(), (name) => valuesOf(query, name), '', faults)
  }
}

/** The values of all spellings of a name together: a list may be repeated under another one. */
function folded(query: Query): Query {
  const values = new Map<string, string[]>()
  for (const [name, more] of query) {
    const key = name.toLowerCase()
    values.set(key, [...(values.get(key) ?? []), ...more])
  }
  return values
}

function bodyReader(members: Members, to: Audience): (body: unknown, faults: Faults) => Params | undefined {
  const read = objectFromJson(members, to)
  return (body, faults) =>
    body === undefined
      ? fault(faults, 'MissingValue', 'Body')
      : (read(body, '', faults) as Params | undefined)
}

/** Compiles the reader of a row's parameters: from the body of a POST or PUT, else from the query. */
export function compileReader(row: Row, to: Audience): (raw: unknown) => Input {
  const read = takesBody(row) ? bodyReader(row.params, to) : queryReader(row.params, to)
  return (raw) => {
    const faults: Faults = []
    const params = read(raw as Query, faults)
    if (params !== undefined) {
      checkCursor(params, faults)
      checkNeeds(row, to, params, faults)
    }
    return params === undefined || faults.length > 0 ? { faults } : { params }
  }
}

/** A signature and something signed, as `storage/database/cursor.ts` writes them. */
const cursorForm = /^[\w-]{44,}$/

/** What cannot be a cursor is a fault of form, told with the others; whether one is good is told by its use. */
function checkCursor({ Cursor }: Params, faults: Faults): void {
  if (typeof Cursor === 'string' && !cursorForm.test(Cursor)) fault(faults, 'CursorInvalid', 'Cursor')
}

/** Combination rules see what was read; a refused value counts as given. */
function checkNeeds(row: Row, to: Audience, params: Params, faults: Faults): void {
  const given = { ...to, params }
  for (const need of row.needs ?? []) need.check(given, faults)
}
