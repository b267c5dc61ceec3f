import { parse } from 'csv-parse/sync'
import fc from 'fast-check'
import { describe, expect, test } from 'vitest'
import { csvFormOf, listings, textCell } from './csv.ts'
import { get, type Row } from './row.ts'
import { array, Bool, Dt, I64, Money, maybe, object, on, Str, secret } from './schema.ts'
import { rows } from './table.ts'

const gen = { host: 'Gen', dialect: 'native' } as const
const read = (text: string): string[][] => parse(text, { relax_column_count: false })
/** What a reader does to get a text back: one apostrophe away where formula marks follow. */
const unguarded = (cell: string): string => cell.replace(/^'(?='*[=+\-@\t\r\n＝＋－＠])/, '')
const rowOf = (members: Parameters<typeof object>[0]): Row =>
  get({ says: '', hosts: ['Gen'], params: {}, result: object(members), access: { rule: 'anyKey' } })

describe('text in a cell', () => {
  test.each([
    ['plain words', 'Trend 200', 'Trend 200'],
    ['a command', '=cmd|calc!A1', `"'=cmd|calc!A1"`],
    ['plus', '+1 555', `"'+1 555"`],
    ['minus', '-1+2', `"'-1+2"`],
    ['at', '@SUM(A1)', `"'@SUM(A1)"`],
    ['a future', '@ESM26', `"'@ESM26"`],
    ['tab', '\t=1', `"'\t=1"`],
    ['carriage return', '\r=1', `"'\r=1"`],
    ['a formula inside', 'a=1', '"a=1"'],
    ['an apostrophe of its own', "'t Hooft", `"'t Hooft"`],
    ['an apostrophe before a formula', "'=1", `"''=1"`],
    ['separators', 'a,b;c', '"a,b;c"'],
    ['quotes', 'say "no"', '"say ""no"""'],
    ['lines', 'a\r\nb', '"a\r\nb"'],
    ['nothing', '', '""'],
  ])('%s', (_, text, cell) => expect(textCell(text)).toBe(cell))

  test('no cell starts a formula, and every text can be read back', () => {
    const piece = fc.constantFrom('=', '+', '-', '@', '\t', '\r', '\n', "'", '"', ',', ';', 'a', '1', '＝')
    const texts = fc.array(
      fc.oneof(
        fc.string(),
        fc.array(piece).map((all) => all.join('')),
      ),
      { minLength: 1 },
    )
    fc.assert(
      fc.property(texts, (all) => {
        const { header, lines } = csvFormOf(rowOf({ Text: Str }), gen)
        const cells = read(header + lines(all.map((Text) => ({ Text }))))
          .slice(1)
          .map(([cell = '']) => cell)
        expect(cells.filter((cell) => /^[=+\-@\t\r]/.test(cell))).toEqual([])
        expect(cells.map(unguarded)).toEqual(all)
      }),
    )
  })
})

describe('a form', () => {
  const form = csvFormOf(
    rowOf({
      Id: I64,
      Loss: Money,
      At: Dt,
      IsOn: Bool,
      Note: maybe(Str),
      Hidden: secret(Str),
      Elsewhere: on(['WL'], Str),
      Symbol: object({ Name: Str, Strike: maybe(Money) }),
      Tags: array(Str),
    }),
    gen,
  )

  test('has the members that the host knows as columns, those of objects with dots', () => {
    expect(form.header).toBe('Id,Loss,At,IsOn,Note,Symbol.Name,Symbol.Strike,Tags\r\n')
  })

  test('leaves numbers exact, dates and booleans bare, absent members empty', () => {
    const row = {
      Id: 9007199254740993n,
      Loss: '-1234567890123456.785',
      At: 0,
      IsOn: false,
      Note: null,
      Hidden: 'key',
      Elsewhere: 'x',
      Symbol: { Name: '@ESM26' },
      Tags: ['=1', 'b'],
    }
    expect(form.lines([row])).toBe(
      `9007199254740993,-1234567890123456.79,1970-01-01T00:00:00Z,false,,"'@ESM26",,"[""=1"",""b""]"\r\n`,
    )
  })

  test('of a series has a line per element, and one without it when it is empty', () => {
    const { header, lines } = csvFormOf(rowOf({ Id: I64, Days: array(object({ Equity: Money })) }), gen)
    expect(header).toBe('Id,Days.Equity\r\n')
    expect(
      lines([
        { Id: 1, Days: [{ Equity: 5 }, { Equity: -6.5 }] },
        { Id: 2, Days: [] },
      ]),
    ).toBe('1,5\r\n1,-6.5\r\n2,\r\n')
  })

  test('of a list that may be absent has one cell, as of the accounts of a profile', () => {
    const accounts = maybe(array(object({ Name: Str })))
    const { header, lines } = csvFormOf(rowOf({ Id: I64, Accounts: accounts }), gen)
    expect(header).toBe('Id,Accounts\r\n')
    expect(lines([{ Id: 1, Accounts: [{ Name: 'A' }, { Name: 'B' }] }, { Id: 2 }])).toBe(
      '1,"[{""Name"":""A""},{""Name"":""B""}]"\r\n2,\r\n',
    )
  })
})

describe('the listings', () => {
  test('are the reading operations whose answers are rows', () => {
    expect(listings).toContain('GetStrategyHistoricalOrders')
    expect(listings).toContain('GetStrategyHistoricalDailyEquity')
    expect(listings.filter((name) => rows[name].method !== 'GET')).toEqual([])
    expect(listings).not.toContain('GetAccessKey')
    expect(listings).not.toContain('GetPhoneAlreadyExists')
  })

  test.each(listings)('%s has columns of different names on every host', (name) => {
    for (const host of rows[name].hosts) {
      const [columns = []] = read(csvFormOf(rows[name], { host, dialect: 'native' }).header)
      expect(columns.length).toBeGreaterThan(1)
      expect(new Set(columns).size).toBe(columns.length)
    }
  })
})
