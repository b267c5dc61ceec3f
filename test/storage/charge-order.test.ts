/** Payments of one moment are told apart by their ids: these follow the order in which they were asked for, and are paid. */
import { expect, test } from 'vitest'
import { claimCharges, insertCharges } from '../../src/storage/billing/charges.ts'
import { testDatabase } from '../support/database.ts'

const { db } = await testDatabase()
const [from, to] = [Date.parse('2024-05-01T00:00:00Z'), Date.parse('2024-06-01T00:00:00Z')]

// Joined by hash, what was asked for comes out of its bucket the last one first.
test.each(['nestloop', 'hashjoin', 'mergejoin'])(
  'charges follow each other without a %s',
  async (without) => {
    await db.transaction(async (tx) => {
      await tx.run`set local session_replication_role = replica`
      await tx.script(`set local enable_${without} = off; set local enable_nestloop = off`)
      await tx.run`delete from charge`
      await tx.run`delete from subscription`
      await tx.run`
      insert into subscription (id, site_id, person_id, strategy_id, kind, base_price, started_at, term_started_at,
        term_ends_at)
      overriding system value
      select n, 1, n, 1, 'paid', 0, '2024-05-01', '2024-05-01', '2024-06-01' from generate_series(1, 500) n`
      await tx.run`analyze subscription`
      const asked = Array.from({ length: 40 }, (_, place) => ({
        subscriptionId: 1 + (place % 20) * 7,
        purpose: place < 20 ? 'term' : 'performance',
        price: { base: BigInt(place + 1), markup: 0n },
        provider: 'simulated',
        dueAt: from,
        from,
        to,
      }))
      const ids = await insertCharges(tx, asked as Parameters<typeof insertCharges>[1])
      expect(ids).toEqual(ids.toSorted((a, b) => a - b))
      const rows = await tx.rows<{ amount: number }>`select amount from charge order by id`
      expect(rows.map(({ amount }) => amount)).toEqual(asked.map(({ price }) => Number(price.base)))
      const claimed = await claimCharges(tx, { provider: 'simulated', now: from, limit: 40 })
      expect(claimed.map(({ id }) => id)).toEqual(ids)
    })
  },
)
