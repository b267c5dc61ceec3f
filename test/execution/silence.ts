/** A paper broker that is not heard for a while, and what becomes of it. */
import type { AccountWorld } from './account-world.ts'

export function makeSilence(world: AccountWorld) {
  const { paper } = world
  const { db } = world.ctx
  /** Reports that are under way never arrive. */
  const loseReports = (accountId: number) =>
    db.write
      .run`update paper_report set is_delivered = true where account_id = ${accountId} and not is_delivered`

  /** What the broker does while nothing of it is heard. */
  async function unheard<T>(accountId: number, what: () => Promise<T>): Promise<T> {
    paper.controls.hold(true)
    const done = await what()
    await loseReports(accountId)
    paper.controls.hold(false)
    await db.write.run`update account_order set claimed_until = null`
    return done
  }

  async function minutes(count: number): Promise<void> {
    for (let passed = 0; passed < count; passed += 1) {
      world.clock.time += 60_001
      await world.drain()
    }
  }

  const incidentsOf = async (accountId: number): Promise<string[]> =>
    (
      await db.read.rows<{ kind: string }>`
      select kind from incident where (detail->>'accountId')::bigint = ${accountId} order by id`
    ).map(({ kind }) => kind)

  return { unheard, minutes, incidentsOf }
}
