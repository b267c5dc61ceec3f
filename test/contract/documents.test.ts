/** What is derived and published says what the platform does: files, examples, schemas, reference. */
import { spawnSync } from 'node:child_process'
import { readFileSync } from 'node:fs'
import { Ajv2020 } from 'ajv/dist/2020.js'
import addFormats from 'ajv-formats'
import { describe, expect, test } from 'vitest'
import { errorCodes, refusals } from '../../src/contract/errors.ts'
import { type Example, exampleOf, queryOf } from '../../src/contract/example.ts'
import { type Route, routesOf } from '../../src/contract/hosts.ts'
import { compileRow, hostNames, referencePage, referenceStyle } from '../../src/contract/index.ts'
import { fieldNotes } from '../../src/contract/notes.ts'
import { openApiOf } from '../../src/contract/openapi.ts'
import type { Audience } from '../../src/contract/schema.ts'
import { generatedFiles } from './generated.ts'

const audiences = hostNames.flatMap((host): Audience[] => [
  { host, dialect: 'native' },
  { host, dialect: 'compat' },
])

interface Answer {
  $ref?: string
  headers?: object
}
interface Described {
  paths: Record<string, Record<string, { operationId: string; responses: Record<string, Answer> }>>
  components: { responses: Record<string, Answer>; headers: object }
}
const hasBody = ({ method }: Route): boolean => method === 'POST' || method === 'PUT'

describe('generated files', () => {
  test.each([...generatedFiles()])('%s is what the contract generates', (path, text) => {
    expect(readFileSync(path, 'utf8')).toBe(text)
  })

  test('the documents pass the linter', () => {
    const lint = spawnSync('npx', ['redocly', 'lint', 'openapi/*.json', '--format', 'summary'], {
      encoding: 'utf8',
      shell: true,
      env: { ...process.env, REDOCLY_TELEMETRY: 'off', CI: 'true' },
    })
    expect(`${lint.stdout}${lint.stderr}`).not.toMatch(/\d+ (warning|error|problem)/)
    expect(lint.status).toBe(0)
  }, 120_000)
})

describe('headers of answers', () => {
  /** Those that answers carry only now and then; the edge's tests show when. */
  const cases: [status: string, method: string, header: string][] = [
    ['401', 'get', 'WWW-Authenticate'],
    ['304', 'get', 'Last-Modified'],
    ...['post', 'put', 'delete'].flatMap((method) =>
      ['200', '400', '403', '404', '409'].map((status): [string, string, string] => [
        status,
        method,
        'Idempotent-Replayed',
      ]),
    ),
  ]
  test.each(hostNames)('of %s are all named', (host) => {
    const { paths, components } = openApiOf(host) as unknown as Described
    const operations = Object.values(paths).flatMap((path) => Object.entries(path))
    for (const [method, { operationId, responses }] of operations)
      for (const [status, of, header] of cases) {
        const answer = responses[status]
        if (of !== method || answer === undefined) continue
        const name = answer.$ref?.split('/').at(-1)
        const { headers } = name === undefined ? answer : (components.responses[name] ?? {})
        expect(headers, `${operationId} ${status}`).toHaveProperty([header])
        expect(components.headers).toHaveProperty([header])
      }
  })

  test.each(hostNames)(
    'of %s name an approval request where one is made: by a start, and by a stop',
    (host) => {
      const { paths } = openApiOf(host) as unknown as Described
      const naming = Object.values(paths)
        .flatMap((path) => Object.values(path))
        .filter(({ responses }) => {
          const names = Object.keys(responses['200']?.headers ?? {})
          return names.includes('X-Approval-Request-Id') && names.includes('Location')
        })
      const makes = host === 'WL' ? ['StartAutotrade', 'StopAutotrade'] : []
      expect(naming.map(({ operationId }) => operationId)).toEqual(makes)
    },
  )
})

describe('examples', () => {
  test.each(audiences)('are accepted on $host in $dialect', (to) => {
    for (const route of routesOf(to.host, to.dialect)) {
      const example = exampleOf(route.row, to)
      const { readInput } = compileRow(route.row, to.host, to.dialect, route.version)
      expect(readInput(hasBody(route) ? example : queryOf(example)), route.operation).toHaveProperty('params')
    }
  })
})

describe('schemas of bodies', () => {
  /** Values that a member may be replaced by, one at a time. */
  const intruders = [
    null,
    '',
    'x',
    '   ',
    0,
    -1,
    1.5,
    5,
    true,
    [],
    {},
    [1, 1],
    2 ** 40,
    1e13,
    'x'.repeat(300),
    '2026-02-30',
    '2026-03-01',
  ]

  /** Every object one step away from the example: a member dropped, replaced, or added, at any depth. */
  function* mutated(example: Example): Generator<Example> {
    yield { ...example, Unknown: 1 }
    for (const [name, value] of Object.entries(example)) {
      const { [name]: _dropped, ...rest } = example
      yield rest
      for (const intruder of intruders) yield { ...example, [name]: intruder }
      if (typeof value === 'object' && value !== null && !Array.isArray(value))
        for (const inner of mutated(value as Example)) yield { ...example, [name]: inner }
    }
  }

  const ajv = new Ajv2020({ strict: false, allErrors: false })
  addFormats.default(ajv)
  ajv.addFormat('int64', true)
  ajv.addFormat('int32', { type: 'number', validate: (value) => Math.abs(value) < 2 ** 31 })
  ajv.addFormat('password', true)
  // The reader takes a date-time without offset as UTC; the published format is the stricter RFC 3339.
  /** A combination rule is words in the document: what it refuses or misses is no matter of a single field. */
  const missedByRules =
    /\b(Order\.(Limit|Stop|CancelReplaceSignalId)|(Order|Positions\[\d+\])\.PlatformSymbol|StartingCapital|IPAddress|WatchListId|WatchListName|ManageWatchList StrategyId)$/
  const isOfRule = (code: string, place: string): boolean =>
    code === '1128' || (code === '1102' && missedByRules.test(place))

  test.each(hostNames)('on %s accept what the reader accepts', (host) => {
    const document = openApiOf(host) as { paths: Record<string, Record<string, never>>; components: unknown }
    ajv.addSchema({ components: document.components }, host)
    let compared = 0
    for (const route of routesOf(host, 'native').filter(hasBody)) {
      const operation = document.paths[route.path]?.[route.method.toLowerCase()] as unknown as {
        requestBody: { content: { 'application/json': { schema: object } } }
      }
      const schema = JSON.parse(
        JSON.stringify(operation.requestBody.content['application/json'].schema).replaceAll(
          '"#/',
          `"${host}#/`,
        ),
      )
      const accepts = ajv.compile(schema)
      const { readInput } = compileRow(route.row, host, 'native', route.version)
      const different: string[] = []
      for (const body of mutated(exampleOf(route.row, { host, dialect: 'native' }))) {
        const input = readInput(body)
        const faults = 'faults' in input ? input.faults : []
        // A combination rule is words in the document; every fault of a single field must be in the schema.
        const ofFields = faults.filter(
          ({ ErrorCode, FieldName }) => !isOfRule(ErrorCode, `${route.operation} ${FieldName}`),
        )
        if (accepts(body) !== (ofFields.length === 0))
          different.push(`${route.operation} ${JSON.stringify(body)} ${JSON.stringify(faults)}`)
        compared++
      }
      expect(different.slice(0, 3)).toEqual([])
    }
    expect(compared).toBeGreaterThan(500)
  })
})

describe('the reference', () => {
  test.each(audiences)('shows every operation of $host in $dialect once, and nothing foreign', (to) => {
    const html = referencePage(to, 'http://localhost:8080/gen')
    const ids = [...html.matchAll(/<section id="([^"]+)"/g)].map(([, id]) => id)
    expect(new Set(ids).size).toBe(ids.length)
    expect(ids).toHaveLength(routesOf(to.host, to.dialect).length + 1)
    expect(html).not.toMatch(
      /<script|<link(?! rel="icon" href="data:,">)|<img|<iframe|\ssrc=|\son\w+=|\sstyle=|url\(|@import/i,
    )
    expect(html.match(/<style>([\s\S]*)<\/style>/)?.[1]).toBe(referenceStyle)
    for (const code of Object.keys(errorCodes)) expect(html).toContain(`<td>${code}</td>`)
    expect(html.includes('C2Symbol')).toBe(to.dialect === 'compat')
  })
})

describe('the reference alone is enough', () => {
  const html = referencePage({ host: 'Geo', dialect: 'native' }, 'http://localhost:8080/geo')
  const sectionOf = (id: string): string =>
    html.split(`<section id="${id}">`)[1]?.split('</section>')[0] ?? ''

  test('to know a signal by its id on version 1, and by its row on version 2', () => {
    const gen = referencePage({ host: 'Gen', dialect: 'native' }, 'http://localhost:8080/gen')
    expect(gen).toContain('<td><code>NewSignals</code></td><td>array of integer (64 bits)</td>')
    expect(gen).not.toContain('NewSignals[]')
    const wl = referencePage({ host: 'WL', dialect: 'native' }, 'http://localhost:8080/wl')
    expect(wl).toContain('<code>NewSignals[].OrderStatus</code>')
  })

  test('to send a request twice, to be in time, and to ask only for what changed', () => {
    expect(html.split('<h2>')[0]).toMatch(/Idempotency-Key.+X-Limit-Remaining.+Retry-After/s)
    expect(sectionOf('GetProfile')).not.toContain('If-Modified-Since')
    expect(sectionOf('GetAutotradeSettings')).toContain('Takes If-Modified-Since')
  })

  test('to name a person to KYC as the sites of the host do', () => {
    expect(sectionOf('GetKYCScore')).toContain('/GetKYCScore?UserToken=')
    const wl = referencePage({ host: 'WL', dialect: 'native' }, 'http://localhost:8080/wl')
    expect(wl).toContain('/GetKYCScore?PersonId=')
  })

  test('to read figures in their unit', () => {
    const figures = ['Return', 'MaxDrawdown', 'Alpha', 'AvgTradeDuration', 'WinMonthsRatio', 'ReturnVsSP500']
    for (const name of figures)
      expect(sectionOf('GetStrategyDetails'), name).toMatch(
        new RegExp(`<code>${name}</code></td><td>number</td><td>[^<]*</td><td>[^<]*(percent|fraction|days)`),
      )
  })
})

describe('the reference of a host in compat', () => {
  const html = referencePage({ host: 'WL', dialect: 'compat' }, 'http://localhost:8080/wl')

  test('names no member that such a host does not read, and explains those it has of its own', () => {
    expect(html).not.toMatch(/Platform(Symbol|transmit)/)
    expect(html).toContain('<td><code>C2Symbol</code></td><td>object</td><td></td><td>The instrument as the')
  })

  test('says what such a host makes of a moment without offset and of a quantity of zero', () => {
    expect(html).toMatch(/Order\.ParkedUntilDate.{0,120}without offset in New York time\./)
    expect(html).toMatch(/Positions\[\]\.Quantity<\/code><\/td><td>number<\/td>.{0,80}0 is no position/)
  })
})

test('an answer shows moments, never a date alone', () => {
  const html = referencePage({ host: 'Gen', dialect: 'native' }, 'http://localhost:8080/gen')
  expect(html).toContain('<td><code>PostedDate</code></td><td>ISO 8601 date-time</td>')
})

describe('the tables of words', () => {
  test('every code has a refusal, and every note a field', () => {
    const used = new Set(Object.values(refusals).map(({ code }) => String(code)))
    expect(Object.keys(errorCodes).filter((code) => !used.has(code))).toEqual([])
    const pages = hostNames.map((host) => JSON.stringify(openApiOf(host))).join('')
    expect(Object.keys(fieldNotes).filter((name) => !pages.includes(`"${name}"`))).toEqual([])
  })

  test('a name that means more in one place than in another is explained by its place', () => {
    const documentOf = (host: 'Gen' | 'Geo') =>
      openApiOf(host) as {
        paths: Record<string, { get?: { parameters: { name?: string; description?: string }[] } }>
        components: { schemas: Record<string, { properties: Record<string, { description?: string }> }> }
      }
    const { paths, components } = documentOf('Gen')
    const asked = (path: string, name: string, among = paths) =>
      among[path]?.get?.parameters.find((parameter) => parameter.name === name)?.description
    const shown = (name: string, member: string) => components.schemas[name]?.properties[member]?.description
    expect(asked('/Strategies/GetStrategyHistoricalOrders', 'Limit')).toMatch(/^Most results per call/)
    expect(shown('StrategyOrderInput', 'Limit')).toMatch(/^Price/)
    expect(asked('/General/GetProfile', 'PersonId')).toMatch(/Absent: the caller/)
    expect(asked('/General/GetKYCScore', 'PersonId', documentOf('Geo').paths)).toMatch(
      /whom a UserToken names/,
    )
    expect(asked('/Autotrade/GetAutotradeActiveOrders', 'PersonId')).toBe('Id of a person.')
    expect(shown('AutotradeSettings', 'PersonId')).toBe('Id of a person.')
  })
})
