/** Transactions, waiting, broken connections and notifications, against a real server. */
import { describe, expect, test } from 'vitest'
import { openDatabase } from '../../src/storage/database/database.ts'
import { CommitUnknown, DatabaseUnavailable, violatedConstraint } from '../../src/storage/database/failure.ts'
import type { Sql } from '../../src/storage/database/sql.ts'
import { testDatabase } from '../support/database.ts'
import { silentLog } from '../support/database-server.ts'

const { db, url } = await testDatabase({ migrated: false })
await db.transaction((tx) =>
  tx.script(`
    create table account (id bigint primary key, cash numeric not null constraint account_cash check (cash >= 0));
    insert into account values (1, 100), (2, 100);
    create function die() returns trigger language plpgsql as
      'begin perform pg_terminate_backend(pg_backend_pid()); return null; end';
    create table fatal (id bigint);
    create constraint trigger fatal_die after insert on fatal deferrable initially deferred
      for each row execute function die();
  `),
)

const cashOf = async (id: number): Promise<string> =>
  (await db.read.one<{ cash: string }>`select cash from account where id = ${id}`).cash
const add = (sql: Sql, id: number, amount: number): Promise<number> =>
  sql.run`update account set cash = cash + ${amount}::numeric where id = ${id}`
const backend = async (sql: Sql): Promise<number> =>
  (await sql.one<{ pid: number }>`select pg_backend_pid() as pid`).pid
const terminate = (pid: number): Promise<number> => db.write.run`select pg_terminate_backend(${pid}::int)`
/** The other party of a rendezvous: both continue when both have come. */
function meeting(parties: number): () => Promise<void> {
  let open: () => void = () => undefined
  const opened = new Promise<void>((resolve) => {
    open = resolve
  })
  let missing = parties
  return () => {
    if (--missing === 0) open()
    return missing >= 0 ? opened : Promise.resolve()
  }
}

describe('a transaction', () => {
  test('commits what it wrote, or nothing', async () => {
    const before = await cashOf(1)
    await expect(
      db.transaction(async (tx) => {
        await add(tx, 1, 5)
        throw new RangeError('changed my mind')
      }),
    ).rejects.toThrow(RangeError)
    expect(await cashOf(1)).toBe(before)
    expect(await db.transaction(async (tx) => add(tx, 1, 5))).toBe(1)
    expect(await cashOf(1)).toBe(String(Number(before) + 5))
  })

  test('is run again after a serialization failure, whole', async () => {
    const [first, second] = [Number(await cashOf(1)), Number(await cashOf(2))]
    const both = meeting(2)
    let runs = 0
    const move = (from: number, to: number) =>
      db.transaction(async (tx) => {
        runs++
        await tx.run`set transaction isolation level serializable`
        const { cash } = await tx.one<{ cash: string }>`select cash from account where id = ${from}`
        await both()
        await tx.run`update account set cash = cash + ${cash}::numeric / 2 where id = ${to}`
      })
    await Promise.all([move(1, 2), move(2, 1)])
    // At least one of the two was; PostgreSQL may ask both.
    expect(runs).toBeGreaterThanOrEqual(3)
    const orders = [
      [first + (second + first / 2) / 2, second + first / 2],
      [first + second / 2, second + (first + second / 2) / 2],
    ]
    expect(orders).toContainEqual([Number(await cashOf(1)), Number(await cashOf(2))])
  })

  test('is run again after a deadlock', async () => {
    const before = [Number(await cashOf(1)), Number(await cashOf(2))]
    const both = meeting(2)
    let runs = 0
    const bump = (first: number, second: number) =>
      db.transaction(async (tx) => {
        runs++
        await add(tx, first, 1)
        await both()
        await add(tx, second, 1)
      })
    await Promise.all([bump(1, 2), bump(2, 1)])
    // Both look for the deadlock after the same time: on a busy machine both may end by it.
    expect(runs).toBeGreaterThanOrEqual(3)
    expect([Number(await cashOf(1)), Number(await cashOf(2))]).toEqual(before.map((cash) => cash + 2))
  })

  test('is run at most five times', async () => {
    let runs = 0
    const failing = db.transaction(async (tx) => {
      runs++
      await tx.script(`do $$ begin raise exception using errcode = '40001'; end $$`)
    })
    await expect(failing).rejects.toMatchObject({ code: '40001' })
    expect(runs).toBe(5)
  })

  test('does not commit past a failure that was ignored', async () => {
    const before = await cashOf(1)
    const careless = db.transaction(async (tx) => {
      await add(tx, 1, 1)
      await tx.run`select 1 / 0`.catch(() => undefined)
    })
    await expect(careless).rejects.toThrow('a failed statement was ignored')
    expect(await cashOf(1)).toBe(before)
  })

  test('sends what it need not wait for with the commit, all or nothing', async () => {
    const before = Number(await cashOf(1))
    const order: string[] = []
    await db.transaction(async (tx) => {
      await tx.withCommit(() => add(tx, 1, 2).then(() => order.push('written')))
      order.push('worked')
      await add(tx, 1, 3)
    })
    expect(order).toEqual(['worked', 'written'])
    expect(Number(await cashOf(1))).toBe(before + 5)
    const failing = (last: (tx: Sql) => Promise<unknown>) =>
      db.transaction(async (tx) => {
        await tx.withCommit(() => Promise.all([add(tx, 1, 1), last(tx)]))
        await add(tx, 1, 1)
      })
    await expect(failing((tx) => add(tx, 2, -1e9))).rejects.toMatchObject({ constraint: 'account_cash' })
    await expect(failing(() => Promise.reject(new RangeError('never sent')))).rejects.toThrow('never sent')
    expect(Number(await cashOf(1))).toBe(before + 5)
    expect(await db.write.withCommit(() => add(db.write, 1, -5))).toBeUndefined()
    expect(Number(await cashOf(1))).toBe(before)
  })

  test('sends nothing of the turn in which its work fails', async () => {
    const before = await cashOf(1)
    const asked: Promise<unknown>[] = []
    const failing = db.transaction(async (tx) => {
      await add(tx, 1, 1)
      asked.push(add(tx, 1, 1).catch((error: Error) => error.message))
      throw new RangeError('changed my mind')
    })
    await expect(failing).rejects.toThrow('changed my mind')
    expect(await Promise.all(asked)).toEqual(['the transaction was rolled back before this was sent'])
    expect(await cashOf(1)).toBe(before)
  })

  test('goes on with a statement that failed before, prepared or not', async () => {
    const one = await openDatabase({ url, applicationName: 'one', log: silentLog, poolSize: 1 })
    const halves = (by: number) =>
      one.transaction(async (tx) => {
        const [, half] = await Promise.all([
          add(tx, 1, 0),
          tx.one<{ half: number }>`select 10 / ${by}::int as half`,
          tx.run`select ${by}::int as behind`,
        ])
        return half
      })
    const misspelled = () => one.write.run`selekt 1`
    await expect(halves(0)).rejects.toMatchObject({ code: '22012' })
    expect(await halves(5)).toEqual({ half: 2 })
    expect(await halves(2)).toEqual({ half: 5 })
    await expect(misspelled()).rejects.toMatchObject({ code: '42601' })
    await expect(misspelled()).rejects.toMatchObject({ code: '42601' })
    expect(one.connections()).toEqual({ total: 1, inUse: 0, waiting: 0 })
    await one.close()
  })

  test('takes no statement after its end', async () => {
    const kept: Sql[] = []
    await db.transaction(async (tx) => {
      kept.push(tx)
    })
    await expect(kept[0]!.run`select 1`).rejects.toThrow('after the end of its transaction')
  })

  test('can be read-only and has its own limit per statement', async () => {
    await expect(db.transaction((tx) => add(tx, 1, 1), { readOnly: true })).rejects.toMatchObject({
      code: '25006',
    })
    const slow = db.transaction((tx) => tx.run`select pg_sleep(5)`, { statementTimeoutMs: 20 })
    await expect(slow).rejects.toBeInstanceOf(DatabaseUnavailable)
    expect(await db.transaction((tx) => tx.one`show statement_timeout`)).toEqual({ statement_timeout: '5s' })
  })

  test('of a process that is frozen or cut off in its middle keeps its locks no longer than a lease', async () => {
    const idle = await db.transaction((tx) => tx.one`show idle_in_transaction_session_timeout`)
    expect(idle).toEqual({ idle_in_transaction_session_timeout: '10s' })
  })

  test('names the constraint it violated', async () => {
    const poor = await add(db.write, 1, -1e9).catch((error: unknown) => error)
    expect(violatedConstraint(poor)).toBe('account_cash')
    const twice = await db.write.run`insert into account values (1, 0)`.catch((error: unknown) => error)
    expect(violatedConstraint(twice)).toBe('account_pkey')
    expect(violatedConstraint(new Error('other'))).toBeUndefined()
  })
})

describe('a lost connection', () => {
  test('before the commit leaves nothing behind and is not repeated', async () => {
    const before = await cashOf(1)
    let runs = 0
    const lost = db.transaction(async (tx) => {
      runs++
      await add(tx, 1, 1)
      await terminate(await backend(tx))
      await add(tx, 1, 1)
    })
    const error = await lost.catch((reason: unknown) => reason)
    expect(error).toBeInstanceOf(DatabaseUnavailable)
    expect(error).not.toBeInstanceOf(CommitUnknown)
    expect(runs).toBe(1)
    expect(await cashOf(1)).toBe(before)
  })

  test('during the commit leaves its outcome unknown', async () => {
    let runs = 0
    const lost = db.transaction(async (tx) => {
      runs++
      await tx.run`insert into fatal values (1)`
    })
    await expect(lost).rejects.toBeInstanceOf(CommitUnknown)
    await expect(db.write.run`insert into fatal values (2)`).rejects.toBeInstanceOf(CommitUnknown)
    expect(runs).toBe(1)
    expect(db.connections().inUse).toBe(0)
  })

  test('in silence holds up nobody who only takes back what he has done', async () => {
    const small = { poolSize: 1, statementTimeoutMs: 100 }
    const single = await openDatabase({ url, applicationName: 'single', log: silentLog, ...small })
    const began = performance.now()
    const stopped = single.transaction(async (tx) => {
      const pid = await backend(tx)
      process.kill(pid, 'SIGSTOP')
      setTimeout(() => process.kill(pid, 'SIGCONT'), 6_000)
      throw new Error('changed its mind')
    })
    await expect(stopped).rejects.toThrow('changed its mind')
    expect(await single.write.one`select 1 as n`).toEqual({ n: 1 })
    expect(performance.now() - began).toBeLessThan(5_500)
    await single.close()
  })

  test('does not disturb reads', async () => {
    const readers = new Set<number>()
    for (let round = 0; round < 4; round++) {
      const pids = await Promise.all(Array.from({ length: 8 }, () => backend(db.read)))
      for (const pid of pids) readers.add(pid)
      for (const pid of new Set(pids)) await terminate(pid)
    }
    expect(readers.size).toBeGreaterThan(4)
  })
})

describe('limits', () => {
  test('reads cannot write', async () => {
    await expect(add(db.read, 1, 1)).rejects.toMatchObject({ code: '25006' })
  })

  test('a busy pool answers within the waiting time and leaks nothing', async () => {
    const small = await openDatabase({
      url,
      applicationName: 'small',
      log: silentLog,
      poolSize: 1,
      waitMs: 100,
    })
    let release: () => void = () => undefined
    const released = new Promise<void>((resolve) => {
      release = resolve
    })
    let enter: () => void = () => undefined
    const entered = new Promise<void>((resolve) => {
      enter = resolve
    })
    const holder = small.transaction(async (tx) => {
      await tx.run`select 1`
      enter()
      await released
    })
    await entered
    const turnedAway = small.transaction((tx) => tx.run`select 1`).catch((error: unknown) => error)
    expect(small.connections()).toEqual({ total: 1, inUse: 1, waiting: 1 })
    expect(await turnedAway).toBeInstanceOf(DatabaseUnavailable)
    expect(small.connections()).toEqual({ total: 1, inUse: 1, waiting: 0 })
    release()
    await holder
    expect(small.connections()).toEqual({ total: 1, inUse: 0, waiting: 0 })
    await small.close()
  })

  test('who works in bulk waits for a connection longer than others do', async () => {
    const others = await openDatabase({
      url,
      applicationName: 'small',
      log: silentLog,
      poolSize: 1,
      waitMs: 100,
    })
    const bulk = others.relaxed()
    let release: () => void = () => undefined
    const released = new Promise<void>((resolve) => {
      release = resolve
    })
    const hold = (sql: typeof db) =>
      sql.transaction(async (tx) => {
        await tx.run`select 1`
        await released
      })
    const holders = [hold(others), hold(bulk)]
    const waiting = bulk.transaction((tx) => tx.run`select 1`)
    await expect(others.transaction((tx) => tx.run`select 1`)).rejects.toBeInstanceOf(DatabaseUnavailable)
    release()
    expect(await waiting).toBe(1)
    await Promise.all(holders)
    await Promise.all([bulk.close(), others.close()])
  })

  test('a slow read is cut off', async () => {
    const short = await openDatabase({
      url,
      applicationName: 'short',
      log: silentLog,
      statementTimeoutMs: 50,
    })
    await expect(short.read.run`select pg_sleep(5)`).rejects.toBeInstanceOf(DatabaseUnavailable)
    await short.close()
    await expect(short.read.run`select 1`).rejects.toBeInstanceOf(DatabaseUnavailable)
  })

  test('a database that is not there is refused at once', async () => {
    const missing = url.replace(/test_\w+/, 'nowhere')
    await expect(
      openDatabase({ url: missing, applicationName: 'tests', log: silentLog }),
    ).rejects.toMatchObject({ code: '3D000' })
  })
})

describe('a listener', () => {
  /** Collects calls and lets a test wait for the next one. */
  function inbox() {
    const waiting: ((payload: string | undefined) => void)[] = []
    const unread: (string | undefined)[] = []
    const heard = (payload: string | undefined) => {
      const taker = waiting.shift()
      if (taker) taker(payload)
      else unread.push(payload)
    }
    const next = () =>
      unread.length > 0
        ? Promise.resolve(unread.shift())
        : new Promise<string | undefined>((resolve) => waiting.push(resolve))
    return { heard, next, unread }
  }
  const notify = (channel: string, payload: string) => db.write.run`select pg_notify(${channel}, ${payload})`

  test('hears notifications, and is told when it may have missed some', async () => {
    const one = inbox()
    const two = inbox()
    const first = await db.listen('Work "quoted"', one.heard)
    expect(await one.next()).toBeUndefined()
    const second = await db.listen('other', two.heard)
    expect(await two.next()).toBeUndefined()
    await notify('Work "quoted"', '17')
    await notify('other', '18')
    expect(await one.next()).toBe('17')
    expect(await two.next()).toBe('18')
    await db.write.run`select pg_terminate_backend(pid) from pg_stat_activity
      where datname = current_database() and query ilike 'listen%'`
    expect(await one.next()).toBeUndefined()
    expect(await two.next()).toBeUndefined()
    await notify('Work "quoted"', '19')
    expect(await one.next()).toBe('19')
    await first.stop()
    await notify('Work "quoted"', '20')
    await notify('other', '21')
    expect(await two.next()).toBe('21')
    expect(one.unread).toEqual([])
    await second.stop()
  })
})
