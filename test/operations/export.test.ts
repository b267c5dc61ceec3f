/** Exports against the interface's own answers: the same rows, for the same people. */
import { spawn } from 'node:child_process'
import { mkdtempSync, readFileSync, rmSync, statSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { parse } from 'csv-parse/sync'
import { afterAll, describe, expect, inject, test } from 'vitest'
import { callerOf } from '../../src/bin/asking.ts'
import { exportListing } from '../../src/bin/export.ts'
import { listings, type OperationName, rows } from '../../src/contract/index.ts'
import { handlers } from '../../src/operations/index.ts'
import { createRunner } from '../../src/operations/run.ts'
import { resultsOf } from '../support/http.ts'
import { secrets } from '../support/platform.ts'
import { buildTown, holderAccount } from './support/town.ts'

const { platform, people, sites, strategyId, ask } = await buildTown()
const { db } = platform
const clock = { now: () => Date.parse('2024-03-12T15:00:00Z') }
const run = createRunner({ db, clock, handlers, secrets, environment: 'T' })

interface Asked {
  words?: readonly string[]
  host?: string
  personId?: number
}

async function pagesOf(listing: string, { words = [], host, personId }: Asked = {}): Promise<string[]> {
  const caller = await callerOf(db.read, personId)
  const pages: string[] = []
  for await (const page of exportListing(run, { listing, words, host, caller })) pages.push(page)
  return pages
}

type Line = Record<string, string>
const linesOf = (text: string): Line[] => parse(text, { columns: true })

/** A row of the interface as a line: members of objects with dots, formulas with an apostrophe. */
function flat(row: object, prefix = ''): Line {
  const members = Object.entries(row).map(([name, value]): Line => {
    if (typeof value === 'object' && !Array.isArray(value)) return flat(value, `${prefix}${name}.`)
    const text = typeof value === 'object' ? JSON.stringify(value) : String(value)
    return { [prefix + name]: typeof value === 'string' && /^[=+@-]/.test(text) ? `'${text}` : text }
  })
  return Object.assign({}, ...members)
}
const withoutEmpty = (line: Line): Line =>
  Object.fromEntries(Object.entries(line).filter(([, cell]) => cell !== ''))

const add = async (StrategyName: string): Promise<void> => {
  const answer = await ask('AddStrategy', { StrategyName, StartingCapital: 1000 }, { key: people.owner.key })
  expect(answer.status).toBe(200)
}

const trade = { StrategyId: strategyId, OrderType: '1', Side: '1', OrderQuantity: 1, TIF: '0' }
for (let order = 0; order < 5; order++)
  await ask(
    'NewStrategyOrder',
    { Order: { ...trade, PlatformSymbol: { FullSymbol: 'AAPL', SymbolType: 'stock' } } },
    { key: people.owner.key },
  )

describe('an export', () => {
  const holder = { PersonId: people.holder.personId, Account: holderAccount }
  test.each<[OperationName, Record<string, unknown>]>([
    ['GetStrategyHistoricalOrders', { StrategyId: strategyId }],
    ['GetStrategyHistoricalOrders', { StrategyId: strategyId, AscendingOrder: false }],
    ['GetStrategyActiveOrders', { StrategyIds: strategyId }],
    ['GetStrategyOpenPositions', { StrategyIds: strategyId }],
    ['GetStrategyHistoricalClosedTrades', { StrategyId: strategyId }],
    ['GetBrokers', {}],
    ['GetAutotraders', { StrategyId: strategyId }],
    ['GetAutotradedStrategies', { PersonId: people.holder.personId }],
    ['GetAutotradeSettings', holder],
    ['GetAutotradeActiveOrders', holder],
    ['GetAutotradeHistoricalOrders', holder],
    ['GetAutoTradeOpenPositions', { Account: holderAccount }],
  ])('of %s has the rows of the interface, over all pages', async (listing, params) => {
    const words = Object.entries(params).map(([name, value]) => `${name}=${value}`)
    const isPaged = rows[listing].paginated === true
    const pages = await pagesOf(listing, { words: isPaged ? [...words, 'Limit=2'] : words })
    const answer = await ask(listing, params, { key: people.operator.key })
    const shown = resultsOf<object>(answer)
    expect(pages).toHaveLength(isPaged ? Math.max(1, Math.ceil(shown.length / 2)) : 1)
    // The moment at which an account is valued is that of each question.
    const timeless = ({ NetLiquidationValueDate: _, ...row }: Record<string, unknown>) => row
    expect(linesOf(pages.join('')).map(withoutEmpty).map(timeless)).toEqual(
      shown.map((row) => timeless(flat(row))),
    )
    expect(listing === 'GetStrategyHistoricalClosedTrades' || shown.length > 0).toBe(true)
  })

  test('takes the words of the listing’s own host', async () => {
    const [text = ''] = await pagesOf('GetSupportedSymbols')
    const symbols = linesOf(text).map((line) => line['PlatformSymbol.FullSymbol'])
    expect(symbols).toContain('AAPL')
    expect(linesOf(text)[0]).toHaveProperty('BrokerMarginRequirements.BrokerName', '')
  })

  test('of nothing is the header', async () => {
    const [text = ''] = await pagesOf('GetAutotraders', { words: [`WhiteLabelSiteId=${sites.east}`] })
    expect(text).toMatch(/^Id,PersonId,Account,[\w,]+\r\n$/)
  })

  test('shows a person what the person may see, and names the operation’s refusals', async () => {
    const words = [`StrategyIds=${strategyId}`]
    const own = await pagesOf('GetStrategyActiveOrders', { words, personId: people.owner.personId })
    expect(linesOf(own.join(''))).toHaveLength(1)
    const refused = (listing: string, asked: Asked = {}) => expect(pagesOf(listing, asked)).rejects
    await refused('GetStrategyActiveOrders', { words, personId: people.stranger.personId }).toThrow(
      'GetStrategyActiveOrders was refused: StrategyIds You are not authorized',
    )
    await refused('GetStrategyActiveOrders').toThrow('StrategyIds Missing value')
    await refused('GetStrategyActiveOrders', { words, host: 'Geo' }).toThrow('Geo does not offer')
    await refused('GetBrokers', { host: 'X' }).toThrow('host must be one of Gen, Geo, WL')
    await refused('GetBrokers', { words: ['IncludeDisabled'] }).toThrow('written Name=value')
    await refused('GetBrokers', { words: ['Nonsense=1'] }).toThrow('Nonsense Unknown name')
    await refused('NewStrategyOrder').toThrow('there is no listing NewStrategyOrder; there are GetAutotraded')
    await refused('GetBrokers', { personId: 999_999 }).toThrow('no living person')
  })

  test('exists for every listing that is built, and says so where none is', async () => {
    for (const listing of listings) {
      const failure = await pagesOf(listing).then(
        () => '',
        (error: Error) => error.message,
      )
      const isBuilt = handlers[listing as keyof typeof handlers] !== undefined
      if (isBuilt) expect(failure).not.toMatch(/not offered/i)
      else expect(failure).toMatch(/Missing value|must be given|not offered/i)
    }
  })
})

describe('the command', () => {
  const folder = mkdtempSync(join(tmpdir(), 'lockstep-export-'))
  afterAll(() => rmSync(folder, { recursive: true }))

  test('writes a file for its owner alone, and a name that is a formula is none', async () => {
    await add('=HYPERLINK("http://evil.example")')
    const { database } = await db.read.one<{ database: string }>`select current_database() as database`
    const url = new URL(inject('databaseServer').url.replace('@/', '@local/'))
    url.pathname = `/${database}`
    const out = join(folder, 'strategies.csv')
    const env = { ...process.env, DATABASE_URL: url.href.replace('@local/', '@/'), DATA_DIR: folder }
    const args = ['scripts/lockstep.mjs', 'export', 'SearchStrategies', '--json', '--out', out]
    const child = spawn(process.execPath, args, { env })
    let printed = ''
    child.stdout.on('data', (chunk) => (printed += chunk))
    child.stderr.on('data', (chunk) => (printed += chunk))
    const status = await new Promise((resolve) => child.once('exit', resolve))
    expect({ status, printed }).toEqual({
      status: 0,
      printed: `${JSON.stringify({ listing: 'SearchStrategies', file: out })}\n`,
    })
    expect(statSync(out).mode & 0o777).toBe(0o600)
    const names = linesOf(readFileSync(out, 'utf8')).map(({ StrategyName }) => StrategyName)
    expect(names).toEqual(['Trend', 'Alone', `'=HYPERLINK("http://evil.example")`])
  }, 120_000)
})
