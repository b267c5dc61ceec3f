/**
 * SQL as tagged templates. Values always travel as parameters; a statement's name is the hash of its text, so
 * each connection prepares each text once. The same interface serves reads, single writes and transactions:
 * a storage function takes it as its first argument.
 *
 *   const row = await sql.maybe<{ name: string }>`select name from strategy where id = ${id}`
 *   const where = fragment`site_id = ${siteId}`
 *   await sql.rows<Row>`select * from strategy where ${where}`
 */
import { createHash } from 'node:crypto'
import { encode, type Scalar, type Value } from './wire.ts'

/** A piece of SQL with its parameters, to be used inside another template. */
export interface Fragment {
  readonly strings: readonly string[]
  readonly values: readonly (Value | Fragment)[]
}

type Tag<Result> = (strings: TemplateStringsArray, ...values: (Value | Fragment)[]) => Promise<Result>

export interface Sql {
  /** All rows. */
  rows<Row>(...statement: Parameters<Tag<Row>>): Promise<Row[]>
  /** The only row. Throws when there is none or more than one. */
  one<Row>(...statement: Parameters<Tag<Row>>): Promise<Row>
  /** The only row or nothing. Throws when there is more than one. */
  maybe<Row>(...statement: Parameters<Tag<Row>>): Promise<Row | undefined>
  /** The number of rows written. */
  run(...statement: Parameters<Tag<number>>): Promise<number>
  /**
   * Sends what the work need not wait for: in a transaction together with the commit, elsewhere at once. `send`
   * sends all its statements in one turn of the event loop; what they throw is thrown by the transaction.
   */
  withCommit(send: () => Promise<unknown>): Promise<void>
}

/** Statements that commit or vanish together, in the order in which they were sent. */
export interface Transaction extends Sql {
  readonly isTransaction: true
  /** Several statements without parameters, as a migration has them. */
  script(text: string): Promise<void>
}

/** A prepared statement with encoded parameters, as the driver takes it. */
export interface Statement {
  readonly name: string
  readonly text: string
  readonly values: (string | Buffer | null)[]
}

export interface Outcome {
  readonly rows: unknown[]
  readonly rowCount: number | null
  /** The server's word for what was done. */
  readonly command: string
}

export type Execute = (statement: Statement) => Promise<Outcome>

/** A piece of SQL that is no statement by itself. */
export function fragment(strings: TemplateStringsArray, ...values: (Value | Fragment)[]): Fragment {
  return { strings, values }
}

/**
 * An array in brackets, where the planner cannot count it: the statement keeps one plan. For each call with fewer than ten
 * elements one made for it looks cheaper, and making it costs several times as much as the statement. Of the arrays of an
 * `unnest` one is enough. For keys, whose number changes no plan. `type`: of the elements.
 */
export const uncounted = (array: readonly Scalar[], type: string): Fragment => ({
  strings: ['(select ', `::${type}[])`],
  values: [array],
})

/** The ids of rows. */
export const idsOf = async (rows: Promise<readonly { readonly id: number }[]>): Promise<number[]> =>
  (await rows).map(({ id }) => id)

/** A quoted table or column name. */
export function identifier(name: string): Fragment {
  return { strings: [`"${name.replaceAll('"', '""')}"`], values: [] }
}

/** Fragments one after the other with a separator; nothing for an empty list. */
export function join(parts: readonly Fragment[], separator: string): Fragment {
  if (parts.length === 0) return { strings: [''], values: [] }
  return { strings: ['', ...parts.slice(1).map(() => separator), ''], values: parts }
}

/** The interface over anything that executes statements. */
export function makeSql(execute: Execute): Sql {
  const rows = async <Row>(...[strings, ...values]: Parameters<Tag<Row>>): Promise<Row[]> =>
    (await execute(prepare(strings, values))).rows as Row[]
  const maybe = async <Row>(...statement: Parameters<Tag<Row>>): Promise<Row | undefined> => {
    const found = await rows<Row>(...statement)
    if (found.length > 1) throw new Error(`expected one row, got ${found.length}: ${statement[0].join('?')}`)
    return found[0]
  }
  const one = async <Row>(...statement: Parameters<Tag<Row>>): Promise<Row> => {
    const found = await maybe<Row>(...statement)
    if (found === undefined) throw new Error(`expected one row, got none: ${statement[0].join('?')}`)
    return found
  }
  const run = async (...[strings, ...values]: Parameters<Tag<number>>): Promise<number> =>
    (await execute(prepare(strings, values))).rowCount ?? 0
  const withCommit = async (send: () => Promise<unknown>): Promise<void> => {
    await send()
  }
  return { rows, one, maybe, run, withCommit }
}

interface Prepared {
  readonly name: string
  readonly text: string
}

const prepared = new WeakMap<readonly string[], Prepared>()

function prepare(strings: readonly string[], values: readonly (Value | Fragment)[]): Statement {
  if (values.some(isFragment)) {
    const encoded: Statement['values'] = []
    const text = compose({ strings, values }, encoded)
    return { name: nameOf(text), text, values: encoded }
  }
  let known = prepared.get(strings)
  if (!known) {
    const text = strings.reduce((before, after, index) => `${before}$${index}${after}`)
    known = { name: nameOf(text), text }
    prepared.set(strings, known)
  }
  return { name: known.name, text: known.text, values: (values as readonly Value[]).map(encode) }
}

function compose({ strings, values }: Fragment, encoded: Statement['values']): string {
  let text = strings[0] ?? ''
  for (const [index, value] of values.entries()) {
    text += isFragment(value) ? compose(value, encoded) : `$${encoded.push(encode(value))}`
    text += strings[index + 1] ?? ''
  }
  return text
}

function isFragment(value: Value | Fragment): value is Fragment {
  return typeof value === 'object' && value !== null && 'strings' in value
}

/** Names of composed statements, which are composed again for every call. */
const names = new Map<string, string>()
const namesMax = 5_000

function nameOf(text: string): string {
  const known = names.get(text)
  if (known !== undefined) return known
  const name = createHash('sha256').update(text).digest('base64url').slice(0, 24)
  if (names.size >= namesMax) names.clear()
  names.set(text, name)
  return name
}
