/** What tests of money over time share: people, days of the door's clock, charges, balances, and the audit. */
import { expect } from 'vitest'
import { call, doorOf } from '../../support/http.ts'
import type { testPlatform } from '../../support/platform.ts'

export interface Citizen {
  personId: number
  key: string
}

export type Row = Record<string, unknown>

export const start = Date.parse('2024-03-12T14:00:00Z')
export const day = 86_400_000
/** So many days after the start, as the wire writes it. */
export const at = (days: number): string => new Date(start + days * day).toISOString().replace('.000', '')

export function moneyOf(platform: Awaited<ReturnType<typeof testPlatform>>) {
  const { db, url } = platform
  const door = doorOf(url)
  return {
    door,
    passTo: (days: number): Promise<unknown> => door('/clock', { now: at(days) }),
    charges: (purpose: string) =>
      db.read.rows<{ person: number; amount: number; status: string; at: string }>`
        select s.person_id as person, c.amount, c.status, to_char(c.period_ends_at at time zone 'UTC', 'MM-DD') as at
        from charge c join subscription s on s.id = c.subscription_id where c.purpose = ${purpose} order by c.id`,
    balances: async () =>
      Object.fromEntries(
        (
          await db.read.rows<{ name: string; balance: number }>`
            select a.kind as name, sum(e.amount)::bigint as balance from ledger_entry e
            join ledger_account a on a.id = e.account_id group by a.kind`
        ).map(({ name, balance }) => [name, balance]),
      ),
    audit: async () => {
      expect((await call(url, '/test/audit')).json).toEqual({ violations: [] })
      expect(platform.errors).toEqual([])
    },
  }
}
