/** Many questions in one statement: each row says by its `place` which question it answers. */

/** The rows of each question, in the order of the questions. */
export function byPlace<Row extends { place: number }>(rows: readonly Row[], questions: number): Row[][] {
  const lists: Row[][] = Array.from({ length: questions }, () => [])
  for (const row of rows) lists[row.place]?.push(row)
  return lists
}
