/** The operator's replay of a file that cannot be read ends with words instead of trying for ever. */
import { mkdtempSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { expect, test } from 'vitest'
import { readConfig } from '../../src/bin/config.ts'
import { replayFile } from '../../src/bin/replay.ts'
import { completeInstrument } from '../../src/domain/market/derive-instrument.ts'
import { insertInstruments } from '../../src/storage/market/instruments.ts'
import { silentLog } from '../support/database-server.ts'
import { testPlatform } from '../support/platform.ts'

const platform = await testPlatform()
const folder = mkdtempSync(join(tmpdir(), 'replay-'))
const replay = (file: string) =>
  replayFile(readConfig({}), platform.db, silentLog, {
    file: join(folder, file),
    speed: Number.POSITIVE_INFINITY,
  })

test.each([
  ['columns of something else', 'index.csv', 'date,close\n2024-03-11,5000\n', 'row 1 has no time'],
  ['a price that is none', 'price.csv', 'symbol,t,bid,ask\nA,2024-03-12T14:00:00Z,x,2\n', 'no number as bid'],
  ['a row too short', 'short.csv', 'symbol,t,bid,ask\nA,2024-03-12T14:00:00Z\n', 'Invalid Record Length'],
  ['a quote inside a word', 'word.csv', 'symbol,t,bid,ask\nA"B,2024-03-12T14:00:00Z,1,2\n', 'Opening Quote'],
])('%s', async (_, file, text, says) => {
  writeFileSync(join(folder, file), text)
  await expect(replay(file)).rejects.toThrow(says)
})

test('a file is known by what it holds', async () => {
  const batches = async () =>
    (
      await platform.db.read.rows<{ rows: number }>`
        select value::int8 as rows from platform_switch where name like 'feed:replay:%' order by rows`
    ).map(({ rows }) => rows)
  const quotes = (...minutes: number[]) =>
    ['symbol,t,bid,ask', ...minutes.map((minute) => `A,2024-03-12T14:0${minute}:00Z,1,2`), ''].join('\n')
  const play = async (file: string, text: string) => {
    writeFileSync(join(folder, file), text)
    await replay(file)
  }
  const before = await batches()
  await play('monday.csv', quotes(1, 2, 3))
  await play('copy.csv', quotes(1, 2, 3))
  expect(await batches()).toEqual([...before, 3])
  await play('monday.csv', quotes(4, 5, 6, 7))
  expect(await batches()).toEqual([...before, 3, 4])
})

test('says what moved nothing', async () => {
  await insertInstruments(platform.db.write, [
    completeInstrument({ symbol: 'KNOWN', securityType: 'CS' }, 20_000),
  ])
  const rows = ['KNOWN', 'LOST', 'KNOWN'].map((symbol, at) => `${symbol},2024-03-12T15:0${at}:00Z,1,2`)
  writeFileSync(join(folder, 'some.csv'), ['symbol,t,bid,ask', ...rows, ''].join('\n'))
  expect(await replay('some.csv')).toEqual({ rows: 3, unknownSymbols: ['LOST'] })
  expect(await replay('some.csv')).toEqual({ rows: 0, unknownSymbols: [] })
  writeFileSync(join(folder, 'empty.csv'), '')
  expect(await replay('empty.csv')).toEqual({ rows: 0, unknownSymbols: [] })
})

test('a file that is not there is no replay in the audit log', async () => {
  const noted = async (file: string) =>
    (
      await platform.db.read.one<{ count: number }>`
        select count(*)::int as count from audit_entry where object = ${`file ${file}`}::text`
    ).count
  await expect(replay('none.csv')).rejects.toThrow('none.csv: there is no such file or folder')
  await expect(replay(`${'n'.repeat(300)}.csv`)).rejects.toThrow('its name is too long')
  expect(await noted('none.csv')).toBe(0)
  writeFileSync(join(folder, 'there.csv'), '')
  await replay('there.csv')
  expect(await noted('there.csv')).toBe(1)
})
