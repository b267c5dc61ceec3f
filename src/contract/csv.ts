/**
 * Listings as CSV (RFC 4180). The columns are the members of the resource for one host, whether a row has them
 * or not, so every page of a listing has the same; members of objects follow with dots. A resource that is one
 * series (the equity of a strategy) has a line per element of the series, other arrays are JSON in a cell.
 *
 * Numbers, dates and booleans are written as they are. A text that a spreadsheet would take for a formula gets
 * one apostrophe in front; a reader that takes one away wherever formula marks follow gets the text back.
 */
import type { Row } from './row.ts'
import { type Audience, type Field, isKnownTo, type Members, nameIn } from './schema.ts'
import { groups, type OperationName, rows } from './table.ts'
import { writerOf } from './write.ts'

/** The GETs whose rows are objects. A caller's own key is no listing. */
export const listings: readonly OperationName[] = Object.values(groups).flatMap((members) =>
  (Object.keys(members) as OperationName[]).filter((name) => {
    const { method, result } = rows[name]
    return method === 'GET' && result.shape.kind === 'object' && name !== 'GetAccessKey'
  }),
)

export interface CsvForm {
  /** The names of the columns, with their line end. */
  readonly header: string
  /** Rows as their handler gave them, each with its line end. */
  lines(results: readonly unknown[]): string
}

interface Column {
  readonly name: string
  /** The cell of a line: the row, and the element of its series where it is one. */
  cell(row: unknown, element: unknown): string
}

type Take = (row: unknown, element: unknown) => unknown

/** The form of a listing for one host. */
export function csvFormOf({ result }: Row, to: Audience): CsvForm {
  const members = membersOf(result)
  const series = seriesOf(members, to)
  const columns = columnsOf(members, '', (row) => row, series, to)
  const lineOf = (row: unknown, element: unknown): string =>
    lined(columns.map(({ cell }) => cell(row, element)))
  return {
    header: lined(columns.map(({ name }) => name)),
    lines: (results) =>
      results
        .flatMap((row) => {
          const elements = series === undefined ? [] : (memberOf(row, series) as readonly unknown[])
          return elements.length === 0 ? [lineOf(row, undefined)] : elements.map((each) => lineOf(row, each))
        })
        .join(''),
  }
}

/** What makes a spreadsheet calculate: the first characters of a formula, also as full width, and line starts. */
const formula = /^'*[=+\-@\t\r\n＝＋－＠]/
const isBare = /^[\w.: -]+$/

/** A text as a cell: no formula, quoted where it holds more than words. */
export function textCell(text: string): string {
  const safe = formula.test(text) ? `'${text}` : text
  return isBare.test(safe) ? safe : `"${safe.replaceAll('"', '""')}"`
}

const lined = (cells: readonly string[]): string => `${cells.join(',')}\r\n`
const membersOf = ({ shape }: Field): Members => (shape.kind === 'object' ? shape.members : {})
const memberOf = (holder: unknown, name: string): unknown =>
  (holder as Record<string, unknown> | null | undefined)?.[name]

/** The only array of objects of a resource, where there is one and it is always there. */
function seriesOf(members: Members, to: Audience): string | undefined {
  const arrays = Object.entries(members).filter(
    ([, field]) => isKnownTo(field, to) && field.presence === 'always' && itemsOf(field) !== undefined,
  )
  return arrays.length === 1 ? arrays[0]?.[0] : undefined
}

function itemsOf({ shape }: Field): Members | undefined {
  if (shape.kind !== 'array' || shape.items.shape.kind !== 'object') return undefined
  return shape.items.shape.members
}

function columnsOf(
  members: Members,
  prefix: string,
  holder: Take,
  series: string | undefined,
  to: Audience,
): Column[] {
  const known = Object.entries(members).filter(([, field]) => isKnownTo(field, to) && !field.secret)
  return known.flatMap(([key, field]) => {
    const name = `${prefix}${nameIn(to.dialect, key, field)}`
    const take: Take = (row, element) => memberOf(holder(row, element), key)
    if (key === series) return columnsOf(itemsOf(field) ?? {}, `${name}.`, (_, each) => each, undefined, to)
    if (field.shape.kind === 'object') return columnsOf(field.shape.members, `${name}.`, take, undefined, to)
    const write = cellWriter(field, to, name)
    return [{ name, cell: (row, element) => write(take(row, element)) }]
  })
}

/** What is absent is an empty cell. */
function cellWriter(field: Field, to: Audience, name: string): (value: unknown) => string {
  const { kind } = field.shape
  const json = writerOf(field, { ...to, version: 1 }, name)
  const isText = kind === 'text' || kind === 'code'
  const isJson = kind === 'array' || kind === 'signal'
  return (value) => {
    if (value === undefined || value === null) return ''
    if (isText) return textCell(value as string)
    const text = json(value, name)
    return isJson ? textCell(text) : text.replaceAll('"', '')
  }
}
