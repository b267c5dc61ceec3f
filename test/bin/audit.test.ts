/** What the operator is told of books and indexes. */
import { expect, test } from 'vitest'
import { addInstrument } from '../execution/world.ts'
import { commandLine } from '../support/command-line.ts'
import { testDatabase } from '../support/database.ts'
import { misleadIndex } from '../support/misled-index.ts'

const { db, url } = await testDatabase()
const { runHere: run } = commandLine(url)

test('a sound platform is told sound, a damaged index is named', async () => {
  expect(await run('audit')).toMatchObject({
    status: 0,
    output: expect.stringMatching(/^Every book adds up, and \d{3} indexes lead to all of their rows\.$/),
  })
  await addInstrument(db, { symbol: 'AAA' })
  const index = await misleadIndex(db)
  const said = await run('audit')
  expect(said).toMatchObject({
    status: 1,
    output: expect.stringContaining(`the index ${index} is damaged: `),
  })
  const told = JSON.parse((await run('audit', '--json')).output)
  expect(told).toMatchObject({ violations: [], indexes: { damaged: [{ index }] } })
})

test('a rule that is broken everywhere hides no other, and it is told that there are more', async () => {
  const { id: instrumentId } = await addInstrument(db, { symbol: 'BBB' })
  await db.transaction(async (tx) => {
    // Written as no program of ours writes: without events, and cash that no entry explains.
    await tx.run`set local session_replication_role = replica`
    await tx.run`
      insert into signal (strategy_id, instrument_id, side, ord_type, time_in_force, position_effect, order_qty, status,
        posted_at, ended_at, membership_horizon)
      select 1, ${instrumentId}, '1', '1', '0', 'O', 1, '4', now(), now(), 1 from generate_series(1, 1200)`
    await tx.run`
      insert into account (site_id, person_id, broker_id, broker_environment, kind, account, starting_cash, cash,
        settings_changed_at, created_at)
      values (1, 1, 1, 'paper', 1, 'X', 0, 5, now(), now())`
  })
  const { violations } = JSON.parse((await run('audit', '--json')).output)
  const detailsOf = (wanted: string): string[] =>
    violations.flatMap(({ rule, detail }: { rule: string; detail: string }) =>
      rule === wanted ? [detail] : [],
    )
  expect(detailsOf('accountCashIsSumOfEntries')).toHaveLength(1)
  const unexplained = detailsOf('eventsTellTheStatus')
  expect(unexplained).toHaveLength(101)
  expect(unexplained.at(-1)).toBe('and more: only 100 of them are named')
})
