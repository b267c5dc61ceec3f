/** Which statements a piece of work waits for. Statements sent together wait together, so their times overlap. */
import type { Database } from '../../src/storage/database/database.ts'
import type { Fragment, Sql, Transaction } from '../../src/storage/database/sql.ts'
import type { Cost } from './profile.ts'

/** Enough of a statement to know it by. */
const nameLength = 90

/** The same database, which notes how long its statements take to be answered. */
export function watched(db: Database): { db: Database; costs(seconds: number, most: number): Cost[] } {
  const waited = new Map<string, number>()
  const note =
    <Args extends readonly unknown[], Result>(method: (...args: Args) => Promise<Result>) =>
    async (...args: Args): Promise<Result> => {
      const startedAt = performance.now()
      const result = await method(...args)
      const name = nameOf(args[0] as readonly string[], args.slice(1) as Fragment['values'])
      waited.set(name, (waited.get(name) ?? 0) + performance.now() - startedAt)
      return result
    }
  const watch = <Kind extends Sql>(sql: Kind): Kind =>
    ({ ...sql, rows: note(sql.rows), one: note(sql.one), maybe: note(sql.maybe), run: note(sql.run) }) as Kind
  const transaction: Database['transaction'] = (work, options) =>
    db.transaction((tx: Transaction) => work(watch(tx)), options)
  return {
    db: { ...db, read: watch(db.read), write: watch(db.write), transaction },
    costs: (seconds, most) =>
      [...waited]
        .map(([name, milliseconds]) => ({ name: `waiting: ${name}`, share: milliseconds / seconds / 1000 }))
        .sort((a, b) => b.share - a.share)
        .slice(0, most),
  }
}

function nameOf(strings: readonly string[], values: Fragment['values']): string {
  const text = strings.map((piece, place) => piece + pieceOf(values[place])).join('')
  return text.replace(/\s+/g, ' ').trim().slice(0, nameLength)
}

const pieceOf = (value: Fragment['values'][number]): string =>
  typeof value === 'object' && value !== null && 'strings' in value
    ? nameOf(value.strings, value.values)
    : '?'
