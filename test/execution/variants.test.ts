/** Variants under several workers: every signal is copied once, whoever looks at it and however often. */
import { expect, test } from 'vitest'
import { variantStep } from '../../src/execution/orders/variants.ts'
import { auditViolations } from '../../src/storage/operating/audit.ts'
import { insertPersons, insertSite } from '../../src/storage/operating/provision.ts'
import { insertVariant, markVariants } from '../../src/storage/strategies/variants.ts'
import { testDatabase } from '../support/database.ts'
import { addInstrument, addStrategy, makeWorld, opening, place } from './world.ts'

const { db } = await testDatabase()
const world = makeWorld(db)

test('many workers at once make each copy once, and a look without news makes nothing', async () => {
  const parentId = await addStrategy(db, '10000000')
  const site = { kind: 'whitelabel', code: 'w', name: 'W', createdAt: opening } as const
  const siteId = await insertSite(db.write, site)
  const person = { firstName: 'A', lastName: 'B', email: 'a@example.com', createdAt: opening }
  const [ownerPersonId = 0] = await insertPersons(db.write, [{ ...person, siteId, role: 'user' }])
  const variants: (number | string)[] = []
  for (const scalingPercentage of [50, 100, 200]) {
    const wish = { parentId, ownerPersonId, name: 'V', scalingPercentage, startingCash: undefined }
    const made = db.transaction((tx) =>
      insertVariant(tx, { ...wish, securityTypes: ['CS'], createdAt: opening }),
    )
    variants.push(await made)
  }
  const instrument = await addInstrument(db)
  for (let limit = 10; limit < 20; limit += 1) {
    const wish = { strategyId: parentId, instrumentId: instrument.id, side: '1', quantity: '11' } as const
    await place(world, { ...wish, limit: `${limit}` })
  }
  const ctxs = ['w1', 'w2', 'w3', 'w4'].map((workerId) => ({ ...world.ctx, workerId }))
  const settle = async () => {
    for (;;) {
      const looked = await Promise.all(ctxs.map((ctx) => variantStep.run(ctx)))
      if (looked.every((count) => count === 0)) return
    }
  }
  await markVariants(db.write, [parentId])
  await settle()
  const copies = () => db.read.rows<{ strategyId: number; signals: number; quantities: string[] }>`
    select s.strategy_id as "strategyId", count(distinct o.copied_signal_id)::int as signals,
      array_agg(trim_scale(s.order_qty)::text) as quantities
    from variant_order o join signal s on s.id = o.signal_id group by 1 order by 1`
  const made = await copies()
  expect(made.map(({ strategyId, signals, quantities }) => [strategyId, signals, quantities.length])).toEqual(
    variants.map((strategyId) => [strategyId, 10, 10]),
  )
  // Each is scaled by itself while the others are not filled: what is missing then is made up for when they are.
  const total = (row: { quantities: string[] } | undefined): number =>
    (row?.quantities ?? []).reduce((sum, quantity) => sum + Number(quantity), 0)
  expect(made.map(total)).toEqual([50, 110, 220])
  await markVariants(db.write, [parentId])
  await settle()
  expect(await copies()).toEqual(made)
  expect(await db.read.rows`select from variant_mark`).toEqual([])
  expect(await auditViolations(db.read)).toEqual([])
})

test('a variant orders nothing where trading has ended, nor opens what may only be closed', async () => {
  const { ownerPersonId } = await db.read.one<{ ownerPersonId: number }>`
    select id as "ownerPersonId" from person where email = 'a@example.com'`
  const parentId = await addStrategy(db, '10000000')
  const instruments = [await addInstrument(db), await addInstrument(db, { securityType: 'FUT' })]
  for (const { id: instrumentId } of instruments) {
    await place(world, { strategyId: parentId, instrumentId, side: '1', quantity: '4' })
    await db.write.run`
      insert into position (strategy_id, instrument_id, quantity, avg_px, opened_at)
      values (${parentId}::bigint, ${instrumentId}::bigint, 4, 100, now())`
    await db.write.run`
      update signal set status = '2', cum_qty = 4, avg_px = 100, ended_at = now(), needs_match = false, mirror_due = false
      where instrument_id = ${instrumentId}::bigint`
  }
  const [stock, future] = instruments.map(({ id }) => id)
  await db.write.run`update instrument set last_trading_day = '2024-03-11' where id = ${stock}::bigint`
  await db.write.run`update instrument set last_trading_day = '2024-03-13' where id = ${future}::bigint`
  const variant = { parentId, ownerPersonId, name: 'V', scalingPercentage: 100, startingCash: undefined }
  const id = await db.transaction((tx) =>
    insertVariant(tx, { ...variant, securityTypes: ['CS', 'FUT'], createdAt: opening }),
  )
  await markVariants(db.write, [parentId])
  await variantStep.run(world.ctx)
  expect(await db.read.rows`select status from signal where strategy_id = ${id}::bigint`).toEqual([])
})

test('a variant that cannot be worked on holds up no other', async () => {
  const parentId = await addStrategy(db, '10000000')
  const { ownerPersonId } = await db.read.one<{ ownerPersonId: number }>`
    select id as "ownerPersonId" from person where email = 'a@example.com'`
  const wish = { parentId, ownerPersonId, name: 'V', scalingPercentage: 100, startingCash: undefined }
  const add = () =>
    db.transaction((tx) => insertVariant(tx, { ...wish, securityTypes: ['CS'], createdAt: opening }))
  const [broken, other] = [await add(), await add()]
  await db.write.run`
    create function refuses() returns trigger language plpgsql as 'begin raise ''refused''; end'`
  await db.transaction((tx) =>
    tx.script(`create trigger refuses before insert on variant_order for each row
      when (new.variant_id = ${broken}) execute function refuses()`),
  )
  const { id: instrumentId } = await addInstrument(db)
  await place(world, { strategyId: parentId, instrumentId, side: '1', limit: '10' })
  await markVariants(db.write, [parentId])
  await expect(variantStep.run(world.ctx)).rejects.toThrow('cannot be done for somebody')
  const copied = () => db.read.rows<{ id: number }>`
    select variant_id as id from variant_order where variant_id in (${broken}::bigint, ${other}::bigint)`
  expect(await copied()).toEqual([{ id: other }])
})
