/** Rows in groups: by what they have in common, or so many at a time. */

/** The rows of each key, in their order; keys in the order of their first rows. */
export function groupBy<Row, Key>(rows: readonly Row[], keyOf: (row: Row) => Key): Map<Key, [Row, ...Row[]]> {
  const groups = new Map<Key, [Row, ...Row[]]>()
  for (const row of rows) {
    const group = groups.get(keyOf(row))
    if (group) group.push(row)
    else groups.set(keyOf(row), [row])
  }
  return groups
}

/** One row of each key, its last; in the order of the first ones. */
export const oneOfEach = <Row>(rows: readonly Row[], keyOf: (row: Row) => unknown): Row[] => [
  ...new Map(rows.map((row) => [keyOf(row), row])).values(),
]

/** So many rows at a time, in their order; the last part may be smaller. Takes a row only when it is needed. */
export function* chunked<Row>(rows: Iterable<Row>, size: number): Generator<Row[]> {
  let part: Row[] = []
  for (const row of rows) {
    part.push(row)
    if (part.length < size) continue
    yield part
    part = []
  }
  if (part.length > 0) yield part
}
