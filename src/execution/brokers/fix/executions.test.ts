import { describe, expect, test } from 'vitest'
import { fixMessage } from '../../../../test/support/fix-message.ts'
import { readCancelReject, readExecutionReport, withoutReplaced } from './executions.ts'

const id = 'LST-1-S1-0'
const base = `17=E1|11=${id}|1=ACC|55=AAPL|60=20240312-14:00:00`
const traded = `${base}|150=F|39=1|54=1|32=5|31=100.25|14=15`
const read = (text: string) => readExecutionReport(fixMessage(text))
const rows = (text: string): unknown[] => {
  const reading = read(text)
  return 'malformed' in reading
    ? [reading.malformed]
    : reading.reports.map(({ kind, key, clientOrderId, text: said, traded }) => [
        kind,
        key,
        clientOrderId,
        said,
        traded,
      ])
}
const fill = { side: '1', quantity: '5', px: '100.25', cumQty: '15' }

describe('an ExecutionReport', () => {
  test.each<[string, string, (string | null)[]]>([
    ['Canceled', '150=4|39=4|14=5', ['5']],
    ['Expired', '150=C|39=C|14=0', ['0']],
    ['Done for Day, for good', '150=3|39=3|151=0|59=0|14=5', ['5']],
    ['Canceled without a count', '150=4|39=4', [null]],
    ['New', '150=0|39=0|14=0', [null]],
    ['Replaced', '150=5|39=5|14=5', [null]],
  ])('%s counts what was executed by the end', (_, fields, counted) => {
    const reading = read(`${base}|${fields}`)
    expect('reports' in reading && reading.reports.map((report) => report.counted)).toEqual(counted)
  })

  test.each<[string, string, unknown[]]>([
    ['New', `${base}|150=0|39=0`, [['ack', 'E1', id, null, null]]],
    ['Trade', traded, [['fill', 'E1', id, null, fill]]],
    ['Fill, as FIX 4.2 says it', traded.replace('150=F', '150=2'), [['fill', 'E1', id, null, fill]]],
    [
      'Trade of a short sale',
      traded.replace('54=1', '54=5'),
      [['fill', 'E1', id, null, { ...fill, side: '2' }]],
    ],
    ['Trade under the id of a cancel', traded.replace(id, `${id}-AB1`), [['fill', 'E1', id, null, fill]]],
    ['Trade of nobody’s', traded.replace(id, 'HAND'), [['fill', 'E1', 'HAND', null, fill]]],
    [
      'Trade without a total',
      traded.replace('|14=15', ''),
      [['fill', 'E1', id, null, { ...fill, cumQty: null }]],
    ],
    ['Trade without any id', traded.replace(`11=${id}|`, ''), [['fill', 'E1', null, null, fill]]],
    [
      'Canceled',
      `${base}|41=${id}|150=4|39=4`.replace(`11=${id}`, `11=${id}-AB1`),
      [['cancel', 'E1', id, null, null]],
    ],
    ['Canceled unasked', `${base}|150=4|39=4|58=halt`, [['cancel', 'E1', id, 'halt', null]]],
    [
      'Canceled unasked after it replaced',
      `${base}|41=LST-1-S1-Z|150=4|39=4`,
      [['cancel', 'E1', id, null, null]],
    ],
    [
      'Canceled under an id of the broker’s',
      `${base}|41=${id}|150=4|39=4`.replace(`11=${id}`, '11=B7'),
      [['cancel', 'E1', id, null, null]],
    ],
    ['Replaced', `${base}|41=LST-1-S1-Z|150=5|39=5`, [['replace', 'E1', id, null, null]]],
    ['Rejected', `${base}|150=8|39=8|103=0|58=margin`, [['reject', 'E1', id, 'margin', null]]],
    ['Expired', `${base}|150=C|39=C`, [['expire', 'E1', id, null, null]]],
    ['Trade Cancel', `${base}|150=H|39=1|19=E0`, [['bust', 'E1', id, 'E0', null]]],
    [
      'Trade Cancel, as FIX 4.2 says it',
      `${traded}|20=1|19=E0`.replace('150=F', '150=1'),
      [['bust', 'E1', id, 'E0', null]],
    ],
    [
      'Trade Correct, as FIX 4.2 says it',
      `${traded}|20=2|19=E0`.replace('150=F', '150=1'),
      [
        ['bust', 'E1/corrects', id, 'E0', null],
        ['fill', 'E1', id, null, fill],
      ],
    ],
    ['order status, as FIX 4.2 says it', `${traded}|20=3|6=100`.replace('150=F', '150=1'), []],
    [
      'Trade Correct',
      `${traded}|19=E0`.replace('150=F', '150=G'),
      [
        ['bust', 'E1/corrects', id, 'E0', null],
        ['fill', 'E1', id, null, fill],
      ],
    ],
    ['Pending New', `${base}|150=A|39=A`, []],
    ['Pending Cancel', `${base}|150=6|39=6`, []],
    ['Pending Replace', `${base}|150=E|39=E`, []],
    ['Done for Day', `${base}|150=3|39=3`, []],
    ['Done for Day, for good', `${base}|150=3|39=3|151=0|59=0`, [['expire', 'E1', id, null, null]]],
    ['Done for Day until tomorrow', `${base}|150=3|39=3|151=0|59=1`, []],
    ['Done for Day with a rest', `${base}|150=3|39=3|151=5|59=0`, []],
    ['Rejected for an id that it knows', `${base}|150=8|39=8|103=6`, []],
    ['Rejected as unknown', `${base}|150=8|39=8|103=5`, []],
    ['Order Status', `${base}|150=I|39=1|14=5|6=100`, []],
    ['Restated', `${base}|150=D|39=0`, ['unknown ExecType (150) D']],
    ['no ExecType', base, ['no ExecType (150)']],
    ['an unknown ExecType', `${base}|150=Z`, ['unknown ExecType (150) Z']],
    ['no ExecID', `${base}|150=0`.replace('17=E1|', ''), ['no ExecID (17)']],
    ['no Symbol', `${base}|150=0`.replace('55=AAPL|', ''), ['no Symbol (55)']],
    ['no time', `${base}|150=0`.replace('60=', '61='), ['no TransactTime (60)']],
    ['no Side', traded.replace('54=1', '53=1'), ['no known Side (54)']],
    ['an unknown Side', traded.replace('54=1', '54=9'), ['no known Side (54)']],
    ['no LastQty', traded.replace('32=5|', ''), ['no LastQty (32) above 0']],
    ['a LastQty of 0', traded.replace('32=5', '32=0'), ['no LastQty (32) above 0']],
    ['a negative LastQty', traded.replace('32=5', '32=-5'), ['no LastQty (32) above 0']],
    ['a LastQty that is none', traded.replace('32=5', '32=NaN'), ['no LastQty (32) above 0']],
    [
      'a LastQty finer than a book',
      traded.replace('32=5', '32=0.123456789'),
      ['a LastQty (32) finer than any book'],
    ],
    ['a LastPx of 0', traded.replace('31=100.25', '31=0'), ['no LastPx (31) above 0']],
    ['a LastPx that is none', traded.replace('31=100.25', '31=Infinity'), ['no LastPx (31) above 0']],
    ['two LastPx', `${traded}|31=101`, ['no LastPx (31) above 0']],
    ['a Trade Cancel of nothing', `${base}|150=H|39=1`, ['no ExecRefID (19)']],
    ['a Trade Correct of nothing', traded.replace('150=F', '150=G'), ['no ExecRefID (19)']],
  ])('%s', (_, text, expected) => {
    expect(rows(text)).toEqual(expected)
  })

  test.each([
    ['New', `${base}|150=0|39=0`, 'accepted'],
    ['Pending New', `${base}|150=A|39=A`, 'accepted'],
    ['a refusal', `${base}|150=8|39=8`, 'accepted'],
    ['a duplicate id', `${base}|150=8|39=8|103=6`, 'known'],
  ])('%s answers the request', (_, text, says) => {
    expect(read(text)).toMatchObject({ replies: [{ about: id, says }] })
  })

  test.each<[string, string, unknown]>([
    ['working', '39=0|14=0|6=0', { status: '0', cumQty: '0', avgPx: null }],
    ['partly filled', '39=1|14=5|6=100.5', { status: '1', cumQty: '5', avgPx: '100.5' }],
    [
      'filled at an average that does not end',
      '39=2|14=3|6=98.66666666666667',
      { status: '2', cumQty: '3', avgPx: '98.666666666667' },
    ],
    ['suspended', '39=9|14=0', { status: '1', cumQty: '0', avgPx: null }],
    ['done for the day', '39=3|14=0|151=0|59=1', { status: '1', cumQty: '0', avgPx: null }],
    ['done for its day', '39=3|14=0|151=0|59=0', { status: 'C', cumQty: '0', avgPx: null }],
    ['not there', '39=8|103=5', null],
    ['refused once', '39=8|103=0|14=0', { status: '8', cumQty: '0', avgPx: null }],
  ])('a question is answered: %s', (_, text, standing) => {
    const reading = read(`${base}|150=I|790=Q1|${text}`)
    expect('standings' in reading && reading.standings.get('Q1')).toEqual(standing)
  })

  test.each([
    ['an unknown status', '39=z|14=0'],
    ['no total', '39=1|6=5'],
    ['a negative total', '39=1|14=-1|6=5'],
    ['a total that is none', '39=1|14=NaN|6=5'],
    ['no average', '39=1|14=5'],
  ])('an answer with %s is malformed', (_, text) => {
    expect(read(`${base}|150=I|790=Q1|${text}`)).toHaveProperty('malformed')
  })

  // Some say in it what last happened to the order instead of I: booked, it would be an execution twice.
  test.each([
    ['790', 'of one order'],
    ['584', 'of all orders'],
  ])('an answer that repeats the last execution books nothing: tag %s, %s', (tag) => {
    const reading = read(`${traded}|${tag}=Q1|6=100.25`)
    expect(reading).toMatchObject({ reports: [], replies: [] })
    const standing = { status: '1', cumQty: '15', avgPx: '100.25' }
    expect('standings' in reading && [...reading.standings]).toEqual([['Q1', standing]])
  })

  test('an answer without an id of its own is known by the order’s', () => {
    const reading = read(`${base}|150=I|39=0|14=0`)
    expect('standings' in reading && [...reading.standings.keys()]).toEqual([id])
  })
})

describe('an OrderCancelReject', () => {
  const refused = `35=9|11=${id}-AB1|41=${id}|39=0|60=20240312-14:00:00|58=no`
  test.each([
    ['a cancel that is too late', `${refused}|434=1|102=0`, ['cancelReject', id]],
    ['a cancel of nothing', `${refused}|434=1|102=1`, ['cancelUnknown', id]],
    [
      'a cancel, without the order’s id',
      `${refused}|434=1|102=0`.replace(`|41=${id}`, ''),
      ['cancelReject', id],
    ],
    [
      'a replacement',
      `${refused}|434=2|102=0`.replace(`${id}-AB1`, 'LST-1-S1-1'),
      ['replaceReject', 'LST-1-S1-1'],
    ],
  ])('%s', (_, text, expected) => {
    const reading = readCancelReject(fixMessage(text))
    const report = 'reports' in reading ? reading.reports[0] : undefined
    expect([report?.kind, report?.clientOrderId]).toEqual(expected)
    expect(report?.text).toBe('no')
  })

  test('a duplicate id is no refusal', () => {
    expect(readCancelReject(fixMessage(`${refused}|434=1|102=6`))).toMatchObject({
      reports: [],
      replies: [{ says: 'known' }],
    })
  })

  test('without id or time it is malformed', () => {
    expect(readCancelReject(fixMessage('35=9|434=1|60=20240312-14:00:00'))).toHaveProperty('malformed')
    expect(readCancelReject(fixMessage(`35=9|434=1|11=${id}`))).toHaveProperty('malformed')
  })
})

describe('a replacement alone', () => {
  const told = { status: '1', cumQty: '10', avgPx: '92' } as const
  test.each([
    ['nothing was replaced', '0', '0', told],
    ['a part was executed before', '4', '360', { status: '1', cumQty: '6', avgPx: '93.333333333333' }],
    ['all was executed before', '10', '920', { status: '1', cumQty: '0', avgPx: null }],
    ['more is known here than there', '12', '1104', { status: '1', cumQty: '0', avgPx: null }],
  ])('%s', (_, replacedQty, replacedValue, expected) => {
    expect(withoutReplaced(told, { replacedQty, replacedValue })).toEqual(expected)
  })

  test('a broker that counts from its own order on has nothing to take off', () => {
    const fresh = { status: '0', cumQty: '0', avgPx: null } as const
    expect(withoutReplaced(fresh, { replacedQty: '4', replacedValue: '360' })).toEqual(fresh)
  })
})
