/** What the tests of fills give: an op by its name, and orders written briefly. */
import { fillOps } from './fills.ts'

export type Json = Record<string, unknown>
export const run = (op: string, input: Json) => (fillOps[op] as unknown as (input: Json) => never)(input)

export const buy = { side: '1', openClose: 'O' }
export const sell = { side: '2', openClose: 'O' }
export const market = { type: '1' }
export const limit = (price: number) => ({ type: '2', limit: price })
export const stop = (price: number) => ({ type: '3', stop: price })
export const order = (id: string, qty: number, ...parts: Json[]): Json =>
  Object.assign({ id, qty, t: 0 }, ...parts)
