/** What the operator is told of books and indexes. */
import { expect, test } from 'vitest'
import { addInstrument } from '../execution/world.ts'
import { commandLine } from '../support/command-line.ts'
import { testDatabase } from '../support/database.ts'
import { misleadIndex } from '../support/misled-index.ts'

const { db, url } = await testDatabase()
const { runHere: run } = commandLine(url)

test('a sound platform is told sound, a damaged index is named', async () => {
  expect(await run('audit')).toMatchObject({
    status: 0,
    output: expect.stringMatching(/^Every book adds up, and \d{3} indexes lead to all of their rows\.$/),
  })
  await addInstrument(db, { symbol: 'AAA' })
  const index = await misleadIndex(db)
  const said = await run('audit')
  expect(said).toMatchObject({
    status: 1,
    output: expect.stringContaining(`the index ${index} is damaged: `),
  })
  const told = JSON.parse((await run('audit', '--json')).output)
  expect(told).toMatchObject({ violations: [], indexes: { damaged: [{ index }] } })
})
