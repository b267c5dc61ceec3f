/**
 * Requests to show and to try: the mandatory parameters with plausible values, and whatever the combination
 * rules ask for beyond them. The reader itself says what is missing, so an example never goes stale.
 */
import { compileReader, type Input } from './read.ts'
import { type Row, takesBody } from './row.ts'
import { type Audience, type Field, isKnownTo, type Members, nameIn } from './schema.ts'

/** A request's parameters as plain JSON. */
export type Example = { readonly [name: string]: unknown }

const values: Readonly<Record<string, unknown>> = {
  Account: 'U1234567',
  Currency: 'USD',
  FullSymbol: 'AAPL',
  GeoSite: 'eu',
  Name: 'Ann',
  OrderId: 'U1234567-157376139-1',
  RequestId: '0b2f7a58-3c5e-4f6e-9f3a-6a1d1c0e9b11',
  StartingCapital: 100_000,
  StrategyName: 'Trend 200',
  IPAddress: '192.0.2.7',
  WatchListName: 'Favorites',
}

function exampleValue(name: string, { shape }: Field, to: Audience): unknown {
  if (values[name] !== undefined) return values[name]
  switch (shape.kind) {
    case 'integer':
      return name.endsWith('Id') ? 94_987_184 : (shape.min ?? 1)
    case 'number':
      return name === 'OrderQuantity' || name === 'Quantity' ? 100 : 182.5
    case 'boolean':
      return true
    case 'text':
      return shape.example ?? name
    case 'instant':
      return '2026-02-26'
    case 'code':
      return shape.values[0]
    case 'array':
      return [exampleValue(name.replace(/s$/, ''), shape.items, to)]
    case 'object':
      return exampleObject(shape.members, to)
    case 'signal':
      throw new Error('a signal is never a parameter')
  }
}

/** The members an audience knows, by the names it uses. */
const membersFor = (members: Members, to: Audience): Members =>
  Object.fromEntries(
    Object.entries(members)
      .filter(([, field]) => isKnownTo(field, to))
      .map(([name, field]) => [nameIn(to.dialect, name, field), field]),
  )

function exampleObject(members: Members, to: Audience): Example {
  const needed = Object.entries(membersFor(members, to)).filter(([, { presence }]) => presence === 'always')
  return Object.fromEntries(needed.map(([name, field]) => [name, exampleValue(name, field, to)]))
}

/** Adds the member a fault names, as deep as the path goes. */
function repaired(example: Example, members: Members, path: string, to: Audience): Example {
  const [, head = '', index, rest] = /^([^.[]+)(?:\[(\d+)\])?(?:\.(.+))?$/.exec(path) ?? []
  const field = membersFor(members, to)[head]
  if (field === undefined) throw new Error(`no parameter ${path}`)
  if (rest === undefined) return { ...example, [head]: exampleValue(head, field, to) }
  const { shape } = field
  if (shape.kind === 'object') {
    return { ...example, [head]: repaired(example[head] as Example, shape.members, rest, to) }
  }
  if (shape.kind !== 'array' || shape.items.shape.kind !== 'object') throw new Error(`no object at ${path}`)
  const inner = shape.items.shape.members
  const items = (example[head] as readonly Example[]).map((item, at) =>
    at === Number(index) ? repaired(item, inner, rest, to) : item,
  )
  return { ...example, [head]: items }
}

/** An example as the query string of a GET or DELETE carries it. */
export const queryOf = (example: Example): ReadonlyMap<string, readonly string[]> =>
  new Map(
    Object.entries(example).map(([name, value]) => [
      name,
      Array.isArray(value) ? value.map(String) : [String(value)],
    ]),
  )

/** A request that the audience's reader accepts. */
export function exampleOf(row: Row, to: Audience): Example {
  const read = compileReader(row, to)
  const tried = (example: Example): Input => read(takesBody(row) ? example : queryOf(example))
  let example = exampleObject(row.params, to)
  for (let input = tried(example); 'faults' in input; input = tried(example)) {
    const [first] = input.faults
    const before = JSON.stringify(example)
    example = repaired(example, row.params, first?.FieldName ?? '', to)
    if (JSON.stringify(example) === before) throw new Error(`${first?.FieldName}: ${first?.Message}`)
  }
  return example
}
