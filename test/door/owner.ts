/** Somebody with a strategy, on a platform that a test has just emptied through the door. */
import { call, resultsOf } from '../support/http.ts'

/** Adds a person, and a strategy of 100,000 that is his; answers his key and its id. */
export async function addOwner(url: string): Promise<{ key: string; StrategyId: number }> {
  const person = { firstName: 'A', lastName: 'B', email: 'a@b.example', role: 'user' }
  const people = await call(url, '/test/people', { body: [person] })
  const key = (people.json as { key: string }[])[0]?.key ?? ''
  const body = { StrategyName: 'S', StartingCapital: 100_000 }
  const added = await call(url, '/gen/Strategies/AddStrategy', { key, body })
  return { key, StrategyId: resultsOf<{ StrategyId: number }>(added)[0]?.StrategyId ?? 0 }
}
