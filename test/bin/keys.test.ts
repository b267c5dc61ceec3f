/** Keys as an operator issues them: their form and their own limits. */
import { beforeAll, expect, test } from 'vitest'
import { isUuidKey } from '../../src/domain/access-key.ts'
import { commandLine } from '../support/command-line.ts'
import { testDatabase } from '../support/database.ts'

const { db, url } = await testDatabase()
const { runHere: run } = commandLine(url)

let person = ''
beforeAll(async () => {
  const words = ['people', 'add', '--first', 'Ann', '--last', 'L', '--email', 'ann@x.org', '--json']
  person = String(JSON.parse((await run(...words)).output).personId)
})

test.each<[string, string[], boolean, unknown]>([
  ['the platform’s form and limits', [], false, null],
  ['the form of older programs', ['--uuid'], true, null],
  ['limits of its own', ['--limits', '10:2,3600:50'], false, { 10: 2, 3600: 50 }],
])('a key of %s', async (_, more, isUuid, limits) => {
  const { status, output } = await run('keys', 'issue', '--person', person, '--json', ...more)
  expect(status).toBe(0)
  const { key, keyId } = JSON.parse(output) as { key: string; keyId: string }
  expect(isUuidKey(key)).toBe(isUuid)
  expect(await db.read.one`select limits from access_key where key_id = ${keyId}`).toEqual({ limits })
  expect((await run('keys', 'revoke', keyId)).status).toBe(0)
})
