/** What lists say to people: every column under its name, and in the words in which it is typed. */
import { expect, test } from 'vitest'
import { tableOf } from '../../src/bin/tool.ts'
import { commandLine } from '../support/command-line.ts'
import { testDatabase } from '../support/database.ts'

const { url } = await testDatabase()
const { runHere: run } = commandLine(url)

const done = async (...words: string[]): Promise<string> => {
  const { status, output, errors } = await run(...words)
  expect([status, errors]).toEqual([0, ''])
  return output
}
const linesOf = async (...words: string[]) => (await done(...words)).split('\n')
const addPerson = async (first: string, ...more: string[]): Promise<string> => {
  const name = ['--first', first, '--last', 'L', '--email', `${first}@x.org`]
  return String(JSON.parse(await done('people', 'add', ...name, ...more, '--json')).personId)
}

test('a table', () => {
  expect(tableOf([])).toEqual([])
  expect(
    tableOf([
      { id: 1, name: 'A longer one', state: '' },
      { id: 20_000, name: null, state: 'on' },
    ]),
  ).toEqual(['id     name          state', '1      A longer one', '20000  null          on'])
})

test('a table of more rows than a call takes arguments', () => {
  const rows = Array.from({ length: 200_000 }, (_, id) => ({ id, state: 'on' }))
  const lines = tableOf(rows)
  expect([lines.length, lines[0], lines[1]]).toEqual([200_001, 'id      state', '0       on'])
})

test('of catalogs, plans and variants', async () => {
  await done('sites', 'add', 'north', '--kind', 'geo', '--name', 'North')
  await done('sites', 'add', 'west', '--kind', 'whitelabel', '--name', 'West', '--region', 'north')
  const owner = await addPerson('owner')
  const customer = await addPerson('customer', '--site', 'west')
  const body = JSON.stringify({ StrategyName: 'Trend', StartingCapital: 100_000 })
  const [{ StrategyId }] = JSON.parse(await done('call', 'AddStrategy', '--person', owner, '--body', body))

  expect(await linesOf('catalog', 'list', 'west')).toEqual(['The catalog is empty.'])
  await done('catalog', 'add', 'west', String(StrategyId))
  await done('catalog', 'set', 'west', String(StrategyId), '--name', 'Own', '--markup', '5.25')
  expect(await linesOf('catalog', 'list', 'west')).toEqual([
    'strategy  name  price  markup',
    `${String(StrategyId).padEnd(8)}  Own   0.00   5.25`,
  ])

  await done('plans', 'add', 'west', 'Small', '--price', '30', '--strategies', '3')
  expect(await linesOf('plans', 'list', 'west')).toEqual([
    'plan  site  kind      name   days  strategies  price',
    expect.stringMatching(/^\d+ +\d+ +investor {2}Small {2}30 {4}3 {11}30\.00$/),
  ])

  const half = ['--name', 'Half', '--owner', customer, '--scaling', '50', '--classes', 'futures,stocks']
  await done('mux', 'create', String(StrategyId), ...half)
  expect(await linesOf('mux', 'list')).toEqual([
    expect.stringMatching(/^strategy +name +parent +site +scaling +classes +created$/),
    expect.stringMatching(/^\d+ +Half +\d+ +\d+ +50 % +stocks,futures +\d{4}-\d\d-\d\dT/),
  ])
  expect(JSON.parse(await done('mux', 'list', '--json'))).toMatchObject({
    variants: [{ name: 'Half', scalingPercentage: 50, securityTypes: ['FUT', 'CS'] }],
  })
})
