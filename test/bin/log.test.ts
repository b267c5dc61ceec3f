/** What a log line never holds, whatever was handed to it. */
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
