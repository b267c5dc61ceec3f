/** Many questions in one statement: each row says by its `place` which question it answers. */

/** The rows of each question, in the order of the questions. */
export function byPlace<Row extends { place: number }>(rows: readonly Row[], questions: number): Row[][] {
  const lists: Row[][] = Array.from({ length: questions }, () => [])
  for (const row of rows) lists[row.place]?.push(row)
  return lists
}

/** Equal questions asked once: the distinct ones, and for each question the place of its own among them. */
export function distinct<Question>(
  questions: readonly Question[],
  nameOf: (question: Question) => string,
): { readonly asked: readonly Question[]; readonly places: readonly number[] } {
  const known = new Map<string, number>()
  const asked: Question[] = []
  const places = questions.map((question) => {
    const name = nameOf(question)
    const at = known.get(name) ?? asked.push(question) - 1
    known.set(name, at)
    return at
  })
  return { asked, places }
}
