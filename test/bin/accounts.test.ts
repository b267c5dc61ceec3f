/** The operator's tools for accounts: who may have one, what is known of it, and how it follows. */
import { describe, expect, test } from 'vitest'
import { commandLine } from '../support/command-line.ts'
import { testDatabase } from '../support/database.ts'
import { addBroker } from '../support/followers.ts'
import { operatorBy } from '../support/operator.ts'

const { db, url } = await testDatabase()
const { told, refused, addPeople, addStrategy } = operatorBy(commandLine(url).runHere)
const patience = 120_000

const { admin, customer, owner } = await addPeople()
const brokerId = await addBroker(db, 'live')
const strategyId = await addStrategy(owner)
const id = (number: number) => String(number)

describe('accounts', () => {
  test(
    'are approved by somebody who may, and changed',
    async () => {
      const approve = [
        'accounts',
        'approve',
        'U1',
        '--person',
        id(customer),
        '--broker',
        id(brokerId),
        '--by',
      ]
      await told(...approve, id(admin))
      const approvals = () => db.read.rows`
      select account, connection_type as kind, added_by_person_id as by, deleted_at is null as living from approved_account
      order by kind`
      expect(await approvals()).toEqual([{ account: 'U1', kind: 0, by: admin, living: true }])
      expect(await refused(...approve, id(owner))).toMatch(/^lockstep: ApprovedAutotradeAccount was refused/)
      await told('accounts', 'withdraw', 'U1')
      expect(await approvals()).toMatchObject([{ living: false }])
      await db.write.run`
      insert into account (site_id, person_id, broker_id, broker_environment, kind, account, starting_cash, cash,
        settings_changed_at, created_at)
      select site_id, id, ${brokerId}::int, 'live', 0, 'U1', 1000, 1000, now(), now() from person
      where id = ${customer}::bigint`
      const set = ['accounts', 'set', id(brokerId), 'U1']
      await told(...set, '--ignore-manual-orders', 'on', '--introducing-broker', 'IB', '--sales-rep-id', '7')
      expect(
        await db.read.one`
        select ignore_manual_orders as ignored, introducing_broker as ib, sales_rep_id as rep,
          settings_changed_at > created_at as "isTold" from account`,
      ).toEqual({ ignored: true, ib: 'IB', rep: 7, isTold: true })
      expect(await refused('accounts', 'set', id(brokerId), 'U2', '--sales-rep', 'X')).toMatch(
        /there is no account U2/,
      )
    },
    patience,
  )

  test(
    'follow as the operator says',
    async () => {
      await db.write.run`
      insert into setup (account_id, strategy_id, scaling_percentage, stocks_enabled, stocks_long, stocks_short,
        options_enabled, options_long, options_short, futures_enabled, futures_long, futures_short, forex_enabled,
        forex_long, forex_short, joins_positions, joined_version, started_at, changed_at)
      select id, ${strategyId}::bigint, 100, true, true, true, true, true, true, true, true, true, true, true, true, true,
        1, now(), now() from account`
      const setup = ['accounts', 'setup', id(brokerId), 'U1', id(strategyId)]
      await told(...setup, '--closing-orders-only', 'on', '--min-futures', '2', '--forex-lot-size', '10')
      await told(...setup, '--forex-lot-size', '0', '--confirmation', 'on')
      expect(
        await db.read.one`
        select closing_orders_only as closing, min_futures as futures, forex_lot_size as lot,
          is_confirmation_needed as asks from setup`,
      ).toEqual({ closing: true, futures: 2, lot: null, asks: true })
      expect(await refused('accounts', 'setup', id(brokerId), 'U1', '999', '--min-forex', '1')).toMatch(
        /does not follow/,
      )
    },
    patience,
  )
})
