/**
 * Worker processes that trade over FIX with QuickFIX, killed with -9 at random moments: every copy reaches the exchange
 * once, every execution is booked once, and books and exchange hold the same.
 */
import { type ChildProcess, spawn } from 'node:child_process'
import { mkdtempSync, rmSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { setTimeout as pause } from 'node:timers/promises'
import { afterAll, describe, expect, test } from 'vitest'
import { workingFlags } from '../../src/bin/children.ts'
import { accountViolations } from '../execution/account-world.ts'
import { connection, makeExchange, missing } from '../execution/fix-world.ts'
import { addInstrument, addStrategy, makeWorld, place } from '../execution/world.ts'
import { addFollowers } from '../support/followers.ts'

/** More by the environment, for longer runs. */
const kills = Number(process.env.KILLS ?? 2)
const followers = 5
const signals = 20

const folder = mkdtempSync(join(tmpdir(), 'lockstep-fix-'))
const exchanged = missing === null ? await makeExchange() : ({} as Awaited<ReturnType<typeof makeExchange>>)
const { db, url, exchange, brokerId } = exchanged
let worker: ChildProcess | undefined

afterAll(() => {
  worker?.kill('SIGKILL')
  rmSync(folder, { recursive: true })
})

/** A worker process as an operator runs it; resolves when it says that it is ready. */
async function startWorker(): Promise<void> {
  const path = join(folder, 'brokers.json')
  const entry = { kind: 'fix', host: '127.0.0.1', port: exchange.port, heartbeatSeconds: 5 }
  const names = { senderCompId: 'LOCKSTEP', targetCompId: 'EXCHANGE' }
  const abilities = { tellsPositions: true, listsWorking: true }
  writeFileSync(path, JSON.stringify({ [connection]: { ...entry, ...names, ...abilities } }), { mode: 0o600 })
  const env = {
    ...process.env,
    DATA_DIR: folder,
    DATABASE_URL: url,
    LOCKSTEP_BROKERS: path,
    LOG_LEVEL: 'error',
  }
  const child = spawn(process.execPath, [...workingFlags, 'scripts/lockstep.mjs', 'worker'], {
    env,
    stdio: ['ignore', 'pipe', 'inherit'],
  })
  worker = child
  await new Promise<void>((resolve, reject) => {
    child.once('exit', (code, signal) => reject(new Error(`the worker ended with ${code ?? signal}`)))
    child.stdout.on('data', (chunk: Buffer) => {
      if (chunk.toString().includes('ready worker')) resolve()
    })
  })
}

/** Kills it, and lets others have what it held at once: it is known to be dead. */
async function killWorker(): Promise<void> {
  const child = worker
  if (!child) return
  const gone = new Promise((resolve) => child.once('exit', resolve))
  child.kill('SIGKILL')
  await gone
  await db.write.run`update lease set expires_at = clock_timestamp()`
  await db.write.run`
    update account_order set claimed_until = clock_timestamp() where claimed_until is not null`
}

describe.skipIf(missing !== null)('workers that are killed while they trade over FIX', () => {
  test('every copy is sent once and booked once', async () => {
    const world = makeWorld(db)
    const strategyId = await addStrategy(db)
    const { id: instrumentId } = await addInstrument(db)
    await addFollowers(db, { strategyId, brokerId, count: followers })
    const buy = () => {
      world.clock.time = Date.now()
      return place(world, { strategyId, instrumentId, side: '1', quantity: '1', goodTillCanceled: true })
    }
    const logons = (): number => exchange.events.filter((event) => event === 'logon').length
    for (let killed = 0; killed <= kills; killed++) {
      const before = logons()
      await startWorker()
      // Copies wait for a broker half a minute, longer than a worker takes to be there.
      await expect.poll(logons, { timeout: 60_000 }).toBeGreaterThan(before)
      for (let made = 0; made < signals / (kills + 1); made++) {
        await buy()
        await pause(Math.random() * 150)
      }
      if (killed < kills) await killWorker()
    }
    const count = async (): Promise<{ orders: number; filled: number; left: number; unplanned: number }> =>
      db.read.one`
        select count(*)::int as orders, count(*) filter (where status = '2')::int as filled,
          count(*) filter (where status <> '2' and not (status = '4' and attempts = 0))::int as left,
          (select count(*)::int from signal where mirror_due) as unplanned
        from account_order where source = 'S'`
    await expect.poll(count, { timeout: 90_000, interval: 200 }).toMatchObject({ unplanned: 0, left: 0 })
    // On a slow machine a copy may have waited half a minute for a worker: then it was given up before it was sent.
    const { orders, filled } = await count()
    expect(orders).toBe(followers * (await db.read.rows`select 1 from signal`).length)
    expect(filled).toBeGreaterThan(orders / 4)
    const book = (await exchange.tell('book')).split(' ')
    expect(book).toHaveLength(filled)
    expect(book.every((entry) => entry.endsWith(':2:1'))).toBe(true)
    const booked = await db.read.one`
      select count(*)::int, count(distinct exec_id)::int as ids, sum(quantity)::float8 as quantity,
        (select sum(quantity)::float8 from account_position) as held from execution`
    expect(booked).toEqual({ count: filled, ids: filled, quantity: filled, held: filled })
    expect(exchange.events.filter((event) => event.startsWith('duplicate'))).toEqual([])
    expect(exchange.logged('|35=D|', '|43=Y|')).toEqual([])
    expect(await accountViolations(world)).toEqual([])
    console.info(`${orders} copies, ${kills} kills, ${book.length} orders at the exchange`)
  }, 240_000)
})
