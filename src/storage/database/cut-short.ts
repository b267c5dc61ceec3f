/** Statements that may take longer than a process has for its end. */
import type { Database } from './database.ts'
import type { Transaction } from './sql.ts'

/**
 * Does `work` in the transaction; its statement is cut off as soon as `ending` says so, and fails as one that took too
 * long. Nothing is begun after that: then the answer is undefined.
 */
export async function untilEnding<T>(
  db: Database,
  tx: Transaction,
  ending: AbortSignal | undefined,
  work: () => Promise<T>,
): Promise<T | undefined> {
  const { pid } = await tx.one<{ pid: number }>`select pg_backend_pid() as pid`
  if (ending?.aborted) return undefined
  const cut = () => void db.write.run`select pg_cancel_backend(${pid}::int)`.catch(() => undefined)
  ending?.addEventListener('abort', cut)
  try {
    return await work()
  } finally {
    ending?.removeEventListener('abort', cut)
  }
}
