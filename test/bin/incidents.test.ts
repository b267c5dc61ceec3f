/** What an operator has to look at is listed, and over once the operator says so: not before, and not again. */
import { expect, test } from 'vitest'
import { examine } from '../../src/bin/doctor.ts'
import { insertIncidents } from '../../src/storage/work/incidents.ts'
import { commandLine } from '../support/command-line.ts'
import { testDatabase } from '../support/database.ts'

const { db, url } = await testDatabase()
const { runHere: run } = commandLine(url)
const occurredAt = Date.parse('2026-03-12T14:00:00Z')
const raise = (...keys: string[]) =>
  insertIncidents(
    db.write,
    keys.map((key) => ({ key, kind: 'UnknownOrder', detail: { orderId: key }, occurredAt })),
  )
const finding = async () => (await examine(db, Date.now())).find(({ name }) => name === 'incidents')
const idsOf = async (...words: string[]): Promise<number[]> => {
  const { output } = await run('incidents', 'list', '--json', ...words)
  return JSON.parse(output).incidents.map(({ id }: { id: number }) => id)
}
const noted = () =>
  db.read.rows<{ object: string }>`
    select object from audit_entry where object like 'incident %' and actor = 'operator' order by id`

test('from the list to its end', async () => {
  expect((await run('incidents', 'list')).output).toBe('Nothing to look at.')
  expect(await finding()).toMatchObject({ ok: true })

  await raise('a', 'b', 'c', 'd')
  const [fourth = 0, third = 0, second = 0, first = 0] = await idsOf()
  expect((await run('incidents', 'list', '--limit', '1')).output).toBe(
    `${fourth}  2026-03-12T14:00:00.000Z  UnknownOrder  {"orderId":"d"}`,
  )
  expect(await finding()).toMatchObject({ ok: false, says: '4 to look at (incidents list)' })

  expect((await run('incidents', 'end', String(fourth))).output).toBe(`Incident ${fourth} is ended.`)
  const { output } = await run('incidents', 'end', String(second), '--and-before', '--json')
  expect(JSON.parse(output)).toEqual({ ended: [first, second] })
  expect(await idsOf()).toEqual([third])
  expect(await idsOf('--all')).toEqual([fourth, third, second, first])
  expect((await run('incidents', 'list', '--all')).output).toContain('UnknownOrder (ended)')
  expect(await finding()).toMatchObject({ ok: false, says: '1 to look at (incidents list)' })
  expect(await noted()).toEqual([fourth, first, second].map((id) => ({ object: `incident ${id}` })))

  // Whoever sees the same once more does not raise it again.
  await raise('a', 'b', 'c', 'd')
  expect(await idsOf()).toEqual([third])
})

test.each([
  ['x', 'x is no id'],
  ['999', 'no incident 999 waits to be looked at'],
])('incidents end %s', async (word, says) => {
  expect(await run('incidents', 'end', word)).toEqual({ status: 1, output: '', errors: `lockstep: ${says}` })
})
