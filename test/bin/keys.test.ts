/** Keys as an operator issues them: their form and their own limits; and how one is found that nobody has any more. */
import { beforeAll, expect, test } from 'vitest'
import { isUuidKey } from '../../src/domain/people/access-key.ts'
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

test('a person whose two keys are lost gets another when one of them is found and ended', async () => {
  const issue = async (...more: string[]) => run('keys', 'issue', '--person', person, '--json', ...more)
  expect((await run('keys', 'list', '--person', person)).output).toBe(`Person ${person} has no living key.`)
  const ids: string[] = []
  for (const comment of ['first', 'second'])
    ids.push(JSON.parse((await issue('--comment', comment, '--uuid')).output).keyId)
  expect(await issue()).toEqual({
    status: 1,
    output: '',
    errors: `lockstep: A person has at most 2 living keys: "keys list --person ${person}" shows them, "keys revoke" ends one`,
  })
  const listed = async () => JSON.parse((await run('keys', 'list', '--person', person, '--json')).output).keys
  expect(await listed()).toMatchObject([
    { keyId: ids[0], comment: 'first' },
    { keyId: ids[1], comment: 'second' },
  ])
  await run('keys', 'revoke', String(ids[0]))
  expect(await listed()).toMatchObject([{ keyId: ids[1] }])
  expect((await issue()).status).toBe(0)
})

test('whoever asks for the key of a call that comes without one hears how keys are seen', async () => {
  const errors =
    'lockstep: GetAccessKey shows the key that a call comes with, and here it comes with none: keys list shows those of a person'
  expect(await run('call', 'GetAccessKey')).toMatchObject({ status: 1, errors })
  expect(await run('call', 'GetAccessKey', '--person', person)).toMatchObject({ status: 1, errors })
})
