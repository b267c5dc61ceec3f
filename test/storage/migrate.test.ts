/** Migrations run once, in order, whole, whoever starts them and however often. */
import { mkdtempSync, readFileSync, rmSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { afterAll, beforeEach, describe, expect, test, vi } from 'vitest'
import { openDatabase } from '../../src/storage/database/database.ts'
import { migrate } from '../../src/storage/database/migrate.ts'
import { dumpSchema } from '../../src/storage/database/schema-dump.ts'
import { testDatabase } from '../support/database.ts'
import { silentLog } from '../support/database-server.ts'
import { untilWaiting } from '../support/locks.ts'

const { db, url } = await testDatabase({ migrated: false })
let folder = mkdtempSync(join(tmpdir(), 'lockstep-migrations-'))
afterAll(() => rmSync(folder, { recursive: true }))
const file = (name: string, text: string): void => writeFileSync(join(folder, name), text)

beforeEach(async () => {
  rmSync(folder, { recursive: true })
  folder = mkdtempSync(join(tmpdir(), 'lockstep-migrations-'))
  file('0001_one.sql', 'create table one (id bigint);\ninsert into one values (1);')
  file('0002_two.sql', 'create table two (id bigint);\r\nalter table one add column name text;')
  await db.transaction((tx) => tx.script('drop schema public cascade; create schema public'))
})

const applied = () => db.read.rows<{ name: string }>`select name from schema_migration order by number`

describe('migrations', () => {
  test('run once and in order', async () => {
    expect(await migrate(db, folder)).toEqual(['0001_one.sql', '0002_two.sql'])
    expect(await migrate(db, folder)).toEqual([])
    file('0003_three.sql', 'insert into one values (3)')
    expect(await migrate(db, folder)).toEqual(['0003_three.sql'])
    expect(await db.read.rows`select id from one order by id`).toEqual([{ id: 1 }, { id: 3 }])
  })

  test('do not mind line endings', async () => {
    await migrate(db, folder)
    file('0002_two.sql', readFileSync(join(folder, '0002_two.sql'), 'utf8').replaceAll('\r\n', '\n'))
    expect(await migrate(db, folder)).toEqual([])
  })

  test('are refused when an applied file changed', async () => {
    await migrate(db, folder)
    file('0001_one.sql', 'create table one (id integer)')
    await expect(migrate(db, folder)).rejects.toThrow('0001_one.sql was applied with another content')
  })

  test('are refused when the database is newer', async () => {
    await migrate(db, folder)
    rmSync(join(folder, '0002_two.sql'))
    await expect(migrate(db, folder)).rejects.toThrow('the database has migration 0002_two.sql')
  })

  test('are told to those who listen, once they are committed', async () => {
    await migrate(db, folder)
    file('0003_three.sql', 'insert into one values (3)')
    const heard: unknown[] = []
    const { stop } = await db.listen('schema', (name) => heard.push(name))
    await vi.waitFor(() => expect(heard).toEqual([undefined]))
    await migrate(db, folder)
    await vi.waitFor(() => expect(heard).toEqual([undefined, '0003_three.sql']))
    await stop()
  })

  test('are known by their content where they were given their place in the row later', async () => {
    file('0050_three.sql', 'insert into one values (3)')
    file('0057_four.sql', 'insert into one values (4)')
    await migrate(db, folder)
    for (const name of ['0050_three.sql', '0057_four.sql']) rmSync(join(folder, name))
    file('0003_three.sql', 'insert into one values (3)')
    file('0004_four.sql', 'insert into one values (4)')
    file('0050_other.sql', 'insert into one values (50)')
    expect(await migrate(db, folder)).toEqual(['0050_other.sql'])
    expect(await migrate(db, folder)).toEqual([])
    expect((await applied()).map(({ name }) => name)).toEqual([
      ...['0001_one.sql', '0002_two.sql', '0003_three.sql', '0004_four.sql', '0050_other.sql'],
    ])
    expect(await db.read.rows`select id from one order by id`).toEqual([1, 3, 4, 50].map((id) => ({ id })))
  })

  test('may leave gaps, and fill them later', async () => {
    file('0009_nine.sql', 'create table nine (id bigint)')
    await migrate(db, folder)
    file('0005_five.sql', 'create table five (id bigint)')
    expect(await migrate(db, folder)).toEqual(['0005_five.sql'])
  })

  test.each(['0002_twice.sql', '3_short.sql', '0003_Name.sql'])('refuse the name %s', async (name) => {
    file(name, 'select 1')
    await expect(migrate(db, folder)).rejects.toThrow('should be named')
  })

  test('leave nothing of a file that fails, and say where', async () => {
    file('0003_bad.sql', 'create table three (id bigint);\n\ninsert into nowhere values (1);')
    await expect(migrate(db, folder)).rejects.toThrow(
      '0003_bad.sql, line 3: relation "nowhere" does not exist',
    )
    expect(await applied()).toEqual([{ name: '0001_one.sql' }, { name: '0002_two.sql' }])
    expect(await db.read.one`select to_regclass('three') as found`).toEqual({ found: null })
  })

  test('name the file that makes what is there already', async () => {
    file('0003_again.sql', 'create table one (id bigint)')
    await expect(migrate(db, folder)).rejects.toThrow('0003_again.sql: relation "one" already exists')
  })

  test('do not take the table of another program for theirs', async () => {
    await db.transaction((tx) =>
      tx.script('drop table if exists schema_migration; create table schema_migration (version text)'),
    )
    await expect(migrate(db, folder)).rejects.toThrow(
      'the table schema_migration of this database is not ours',
    )
    await db.write.run`drop table schema_migration`
  })

  test('can be started by many processes at once', async () => {
    const others = await Promise.all(
      [1, 2, 3].map(() =>
        openDatabase({ url, applicationName: 'tests', log: silentLog, poolSize: 1, readers: 1 }),
      ),
    )
    const done = await Promise.all(others.map((other) => migrate(other, folder)))
    expect(done.flat().sort()).toEqual(['0001_one.sql', '0002_two.sql'])
    await Promise.all(others.map((other) => other.close()))
  })

  test('wait for a table in use instead of holding up its users', async () => {
    file('0003_alter.sql', 'alter table one add column note text')
    rmSync(join(folder, '0003_alter.sql'))
    await migrate(db, folder)
    file('0003_alter.sql', 'alter table one add column note text')
    let release: () => void = () => undefined
    const released = new Promise<void>((resolve) => {
      release = resolve
    })
    let reading: () => void = () => undefined
    const started = new Promise<void>((resolve) => {
      reading = resolve
    })
    const reader = db.transaction(async (tx) => {
      await tx.run`select * from one`
      reading()
      await released
    })
    await started
    const migrating = migrate(db, folder)
    await untilWaiting(db.read)
    // The migration gives up its place in the queue again and again, so that others get through.
    await untilWaiting(db.read, 0)
    release()
    await reader
    expect(await migrating).toEqual(['0003_alter.sql'])
  })

  test('lead to the same dump from the same files', async () => {
    await migrate(db, folder)
    await db.transaction((tx) =>
      tx.script(`
        create type mood as enum ('sad', 'glad');
        create domain weight as numeric(20, 8) not null check (value > 0);
        create table parent (id bigint generated always as identity primary key, code text collate "C" unique);
        create table child (
          parent_id bigint not null references parent on delete cascade, weight weight default 1,
          twice numeric generated always as (1 + 1) stored, mood mood, check (parent_id > 0)
        );
        create index child_mood on child (mood) where parent_id > 5;
        create function touch() returns trigger language plpgsql as 'begin return new; end';
        create trigger child_touch before update on child for each row execute function touch();
        create view children as select parent_id from child;
      `),
    )
    const dump = await dumpSchema(db.read)
    expect(dump).toContain('create domain weight as numeric(20,8) not null CHECK ((VALUE > (0)::numeric));')
    expect(dump).toContain(`create type mood as enum ('sad', 'glad');`)
    expect(dump).toContain('id bigint not null generated always as identity')
    expect(dump).toContain('code text collate "C",')
    expect(dump).toContain('weight weight default 1')
    expect(dump).toContain('twice numeric generated always as ((1 + 1)) stored')
    expect(dump).toContain('FOREIGN KEY (parent_id) REFERENCES parent(id) ON DELETE CASCADE')
    expect(dump).toContain(
      'CREATE INDEX child_mood ON public.child USING btree (mood) WHERE (parent_id > 5);',
    )
    expect(dump).toContain('CREATE TRIGGER child_touch BEFORE UPDATE')
    expect(dump).toContain('CREATE OR REPLACE FUNCTION public.touch()')
    expect(dump).toContain('create view children as')
    expect(await dumpSchema(db.read)).toBe(dump)
  })
})
