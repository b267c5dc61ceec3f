/** What `work` answers, and how often somebody else had a turn of the event loop meanwhile. */
export async function besideOthers<T>(work: () => Promise<T> | T): Promise<{ answer: T; turns: number }> {
  let turns = 0
  let isOver = false
  const other = (): void => {
    turns += 1
    if (!isOver) setImmediate(other)
  }
  setImmediate(other)
  const answer = await work()
  isOver = true
  return { answer, turns }
}
