/** What a log line never holds, whatever was handed to it; and a log that finds no room. */
import { spawnSync } from 'node:child_process'
import { closeSync, existsSync, openSync } from 'node:fs'
import { expect, test } from 'vitest'
import { openLog } from '../../src/bin/log.ts'
import { testDatabase } from '../support/database.ts'

test('a row that the database refuses is not quoted', async () => {
  const { db } = await testDatabase()
  const marked = 'Somebody-by-name'
  const refused = await db.write.run`
    insert into person (site_id, role, alias, first_name, last_name, email, created_at)
    select id, 'no role', ${marked}, ${marked}, ${marked}, ${marked}, now() from site limit 1`.catch(
    (error: unknown) => error,
  )
  expect(refused).toHaveProperty('detail', expect.stringContaining(marked))
  const lines: string[] = []
  const log = openLog({ logLevel: 'info' }, 'api', { write: (line) => void lines.push(line) })
  log.error({ err: refused }, 'a request failed')
  log.warn({ error: refused }, 'a step failed')
  expect(lines.map((line) => JSON.parse(line).msg)).toEqual(['a request failed', 'a step failed'])
  expect(lines.filter((line) => line.includes(marked))).toEqual([])
  expect(lines[0]).toContain('person_role_check')
})

test.skipIf(!existsSync('/dev/full'))(
  'a process whose log finds no room goes on, and comes to its end',
  () => {
    const program = `
      import { setTimeout as pause } from 'node:timers/promises'
      import { openLog } from './src/bin/log.ts'
      const log = openLog({ logLevel: 'info' }, 'tests')
      for (let line = 1; line <= 10; line++) {
        log.info({ line }, 'said')
        await pause(20)
      }
      console.log('at its end')
      process.exit(0)`
    const full = openSync('/dev/full', 'w')
    const words = ['--import', './scripts/typescript.mjs', '--input-type=module', '-e', program]
    const { status, stdout } = spawnSync(process.execPath, words, {
      stdio: ['ignore', 'pipe', full],
      encoding: 'utf8',
      timeout: 20_000,
    })
    closeSync(full)
    expect([status, stdout]).toEqual([0, 'at its end\n'])
  },
  60_000,
)
