/**
 * The table of floors as docs/architecture.md shows it, made from the table that the tidy test holds imports
 * against, so that the picture cannot differ from the house.
 */
import { floors } from './floors.ts'

const begin = '<!-- floors: written by npm run generate -->'
const end = '<!-- end of floors -->'

/** What each floor holds, in the order of the table. */
const holds: Readonly<Record<string, string>> = {
  domain: 'the rules: orders, fills, positions, mirroring, calendars, access; pure functions',
  contract: 'the table of operations; what is read, written, refused and documented',
  sdk: 'the typed client, from the same table; needs fetch alone',
  postgres: 'the supervisor of the embedded PostgreSQL',
  services:
    'passwords, sealed data, ISO lists, phone numbers, mail, calls out: libraries behind small functions',
  storage: 'the rows: all SQL that names tables, the way to the database, migrations',
  operations: 'requests: access, idempotency, batches, one handler per operation',
  execution: 'work: matching, mirroring, feeds, leases, the worker’s loop',
  http: 'the edge: hosts, checks in their order, JSON, headers',
  demo: 'the history that a first start plays',
  door: 'the test door and its clock',
  bin: 'the command line: reads the configuration, wires, starts, stops',
}

/** Markdown of the table, its columns aligned as the formatter wants them. Throws on a floor that nobody has described. */
export function floorTable(): string {
  const lines = Object.entries(floors).map(([name, floor]) => {
    const says = holds[name]
    if (says === undefined) throw new Error(`docs: say what the floor ${name} holds`)
    return [`\`${name}/\``, says, listed(floor.floors), listed(floor.packages.map(packageName))]
  })
  const table = [['Floor', 'Holds', 'May import', 'Packages'], ...lines]
  const widths =
    table[0]?.map((_, column) => Math.max(...table.map((line) => line[column]?.length ?? 0))) ?? []
  const [head, ...body] = table.map((line) =>
    rowOf(line.map((cell, column) => cell.padEnd(widths[column] ?? 0))),
  )
  return [head, rowOf(widths.map((width) => '-'.repeat(width))), ...body].join('\n')
}

const rowOf = (cells: readonly string[]): string => `| ${cells.join(' | ')} |`

/** A document with the table between its markers. Throws when the markers are not there. */
export function withFloorTable(document: string): string {
  const from = document.indexOf(begin)
  const to = document.indexOf(end)
  if (from < 0 || to < from) throw new Error('docs: the markers of the floor table are missing')
  return `${document.slice(0, from + begin.length)}\n\n${floorTable()}\n\n${document.slice(to)}`
}

const listed = (names: readonly string[]): string => (names.length === 0 ? 'nothing' : names.join(', '))

const packageName = (name: string): string => (name === 'node:' ? 'Node’s own' : `\`${name}\``)
