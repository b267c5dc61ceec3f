/**
 * The OpenAPI 3.1 document of a host, in the native dialect: every operation with its parameters, its answer
 * and every status it may have. Generated, committed, and compared by a test.
 */
import { type ErrorStatus, errorCodes, errorStatuses, refusals, statusNames } from './errors.ts'
import { exampleOf } from './example.ts'
import { hostFacts, type Route, routesOf } from './hosts.ts'
import { type JsonSchema, objectSchema, type SchemaView, schemaOf } from './json-schema.ts'
import { noteOf } from './notes.ts'
import * as account from './resources/account.ts'
import * as order from './resources/order.ts'
import * as person from './resources/person.ts'
import * as position from './resources/position.ts'
import * as setup from './resources/setup.ts'
import * as simulation from './resources/simulation.ts'
import * as site from './resources/site.ts'
import * as strategy from './resources/strategy.ts'
import * as subscription from './resources/subscription.ts'
import * as symbol from './resources/symbol.ts'
import { takesBody } from './row.ts'
import { type Field, type HostName, isKnownTo, type Members, type Shape } from './schema.ts'

const modules = [account, order, person, position, setup, simulation, site, strategy, subscription, symbol]

/** Objects with a name of their own, which the documents refer to. */
const names: ReadonlyMap<Shape, string> = new Map(
  modules.flatMap((module) =>
    Object.entries(module)
      .filter((entry): entry is [string, Field] => (entry[1] as Partial<Field>).shape?.kind === 'object')
      .map(([name, field]) => [field.shape, name] as const),
  ),
)

const tags = {
  Autotrade: 'Mirroring of strategies into brokerage accounts: setups, settings, orders, positions.',
  General: "The caller's key, people, subscriptions, sites and KYC.",
  Strategies: 'Strategies: orders and positions, statistics and history, subscribers, catalog.',
}

const text = { type: 'string' }
const headerOf = (description: string, schema: JsonSchema = text) => ({ description, schema })

const headers = {
  'X-Request-Id': headerOf(
    'Names the request in logs and in support; taken from the caller when well-formed.',
  ),
  'X-Limit-Type': headerOf('The tightest rate window.'),
  'X-Limit-Limit': headerOf('Calls allowed in that window.', { type: 'integer' }),
  'X-Limit-Remaining': headerOf('Calls left in that window.', { type: 'integer' }),
  'X-Limit-Reset': headerOf('Seconds until the window frees a call.', { type: 'integer' }),
  RateLimit: headerOf('The tightest window in the form of the IETF rate-limit fields.'),
  'RateLimit-Policy': headerOf('All windows in the form of the IETF rate-limit fields.'),
  'Retry-After': headerOf('Seconds to wait before the next try.', { type: 'integer' }),
  'Last-Modified': headerOf('When the data changed last.'),
  'WWW-Authenticate': headerOf('How to say who calls: Bearer.'),
  'Idempotent-Replayed': headerOf(
    'true: the answer to the first request with this Idempotency-Key, given again.',
  ),
}
const approvalHeaders = {
  'X-Approval-Request-Id': headerOf('Id for GetAutotradeApprovalStatus.'),
  Location: headerOf('The GetAutotradeApprovalStatus URL of the approval request.'),
}
/** A stop is a request of its own there, completed at once, which names itself like a start. */
const asksOnWl: ReadonlySet<string> = new Set(['StartAutotrade', 'StopAutotrade'])
const always = [
  'X-Request-Id',
  'X-Limit-Type',
  'X-Limit-Limit',
  'X-Limit-Remaining',
  'X-Limit-Reset',
  'RateLimit',
  'RateLimit-Policy',
]
const headersOf = (extra: readonly string[]) =>
  Object.fromEntries([...always, ...extra].map((name) => [name, { $ref: `#/components/headers/${name}` }]))

const requestHeader = (name: string, description: string, schema: JsonSchema = text) => ({
  name,
  in: 'header',
  required: false,
  description,
  schema,
})

const parameters = {
  IdempotencyKey: requestHeader(
    'Idempotency-Key',
    'Same key and body within 24 hours: same answer, one effect.',
    { type: 'string', minLength: 1, maxLength: 255, pattern: '^[\\x21-\\x7e]+$' },
  ),
  IfModifiedSince: requestHeader('If-Modified-Since', 'Answers 304 without a body when nothing changed.'),
}

/** What comes with a refusal; those that an operation gave itself are remembered under an Idempotency-Key. */
const headersOfErrors: Partial<Record<ErrorStatus, readonly string[]>> = {
  400: ['Idempotent-Replayed'],
  401: ['WWW-Authenticate'],
  403: ['Idempotent-Replayed'],
  404: ['Idempotent-Replayed'],
  409: ['Idempotent-Replayed'],
  429: ['Retry-After'],
  503: ['Retry-After'],
}

/** The codes that come with a status, as words. */
function codesOf(status: ErrorStatus): string {
  const codes = new Set(
    Object.values(refusals)
      .filter((row) => row.status === status)
      .map((row) => row.code),
  )
  return [...codes].map((code) => `${code} ${errorCodes[code].name}`).join(', ')
}

function errorResponse(status: ErrorStatus) {
  return {
    description: `${statusNames[status]}. Codes in Errors: ${codesOf(status)}.`,
    headers: headersOf(headersOfErrors[status] ?? []),
    content: { 'application/json': { schema: { $ref: '#/components/schemas/ErrorAnswer' } } },
  }
}

const errorElement = {
  type: 'object',
  description: 'What was wrong, and where.',
  required: ['ErrorCode', 'FieldName', 'Message'],
  properties: {
    ErrorCode: { ...text, enum: Object.keys(errorCodes) },
    FieldName: { ...text, description: 'Dotted path of the parameter, or empty.' },
    Message: text,
  },
}

const envelopeSchemas = {
  ErrorElement: errorElement,
  SuccessStatus: {
    type: 'object',
    required: ['ErrorCode'],
    properties: { ErrorCode: { ...text, enum: ['200'] } },
  },
  ErrorAnswer: {
    type: 'object',
    required: ['ResponseStatus'],
    properties: {
      ResponseStatus: {
        type: 'object',
        required: ['ErrorCode', 'Message', 'Errors'],
        properties: {
          ErrorCode: { ...text, enum: errorStatuses.map(String), description: 'The HTTP status as text.' },
          Message: { ...text, enum: Object.values(statusNames) },
          Errors: { type: 'array', items: { $ref: '#/components/schemas/ErrorElement' } },
        },
      },
    },
  },
  Pagination: {
    type: 'object',
    description: 'Cursors are percent-encoded once; an absent one means there are no more rows that way.',
    properties: { prev_cursor: text, next_cursor: text },
  },
}

/** Collects the named schemas a document refers to, each once per side. */
function collector(host: HostName) {
  const schemas: Record<string, JsonSchema> = {}
  const viewOf = (side: SchemaView['side'], version: 1 | 2): SchemaView => {
    const view: SchemaView = {
      host,
      dialect: 'native',
      side,
      version,
      refOf(shape) {
        const base = names.get(shape)
        if (base === undefined || shape.kind !== 'object') return undefined
        const name = version === 2 && base === 'DesiredPositions' ? `${base}V2` : base
        if (!(name in schemas)) {
          schemas[name] = {}
          schemas[name] = objectSchema(shape.members, view)
        }
        return `#/components/schemas/${name}`
      },
    }
    return view
  }
  return { schemas, viewOf }
}

type ViewOf = ReturnType<typeof collector>['viewOf']

function queryParameters(members: Members, view: SchemaView) {
  return Object.entries(members)
    .filter(([, field]) => isKnownTo(field, view))
    .map(([name, field]) => {
      const { description, ...schema } = schemaOf(field, view, field.presence === 'always')
      const words = [noteOf(name, field, view), description].filter((word) => word !== undefined).join(' ')
      return {
        name,
        in: 'query',
        required: field.presence === 'always',
        ...(words === '' ? {} : { description: words }),
        schema,
      }
    })
}

function answerSchema({ row, version }: Route, viewOf: ViewOf): JsonSchema {
  const element = schemaOf(row.result, viewOf('answer', version))
  if (row.bare) return element
  return {
    type: 'object',
    required: ['Results', 'ResponseStatus'],
    properties: {
      Results: { type: 'array', items: element },
      ...(row.paginated ? { Pagination: { $ref: '#/components/schemas/Pagination' } } : {}),
      ResponseStatus: { $ref: '#/components/schemas/SuccessStatus' },
    },
  }
}

function responsesOf(route: Route, host: HostName, viewOf: ViewOf) {
  const { row } = route
  const approval = asksOnWl.has(route.operation) && host === 'WL' ? Object.keys(approvalHeaders) : []
  const errors = errorStatuses.filter((status) => !row.without?.includes(status))
  return {
    200: {
      description: row.bare ? 'A JSON boolean, without the envelope.' : 'The results.',
      headers: headersOf([
        ...(row.conditional ? ['Last-Modified'] : []),
        ...(row.method === 'GET' ? [] : ['Idempotent-Replayed']),
        ...approval,
      ]),
      content: { 'application/json': { schema: answerSchema(route, viewOf) } },
    },
    ...(row.conditional
      ? { 304: { description: 'NotModified. Without a body.', headers: headersOf(['Last-Modified']) } }
      : {}),
    ...Object.fromEntries(
      errors.map((status) => [status, { $ref: `#/components/responses/${statusNames[status]}` }]),
    ),
  }
}

function operationOf(route: Route, host: HostName, viewOf: ViewOf) {
  const { row, operation, version, group } = route
  const isBody = takesBody(row)
  const view = viewOf('request', version)
  const description = [row.notes, ...(row.needs ?? []).map(({ says }) => says)].filter(Boolean).join('\n\n')
  const body = {
    required: true,
    content: {
      'application/json': { schema: objectSchema(row.params, view), example: exampleOf(row, view) },
    },
  }
  return {
    operationId: operation,
    tags: [group],
    summary: row.says,
    ...(description === '' ? {} : { description }),
    parameters: [
      ...(isBody ? [] : queryParameters(row.params, view)),
      ...(row.method === 'GET' ? [] : [{ $ref: '#/components/parameters/IdempotencyKey' }]),
      ...(row.conditional ? [{ $ref: '#/components/parameters/IfModifiedSince' }] : []),
    ],
    ...(isBody ? { requestBody: body } : {}),
    responses: responsesOf(route, host, viewOf),
  }
}

/** The document of a host as plain data; `url` is its base. */
export function openApiOf(host: HostName, url = `/${hostFacts[host].prefix}`): JsonSchema {
  const { schemas, viewOf } = collector(host)
  const paths: Record<string, Record<string, unknown>> = {}
  for (const route of routesOf(host, 'native')) {
    paths[route.path] = {
      ...paths[route.path],
      [route.method.toLowerCase()]: operationOf(route, host, viewOf),
    }
  }
  return {
    openapi: '3.1.0',
    info: {
      title: hostFacts[host].title,
      version: 'v4',
      description: 'Strategy orders, statistics and their mirroring into brokerage accounts.',
      license: { name: 'Apache-2.0', identifier: 'Apache-2.0' },
    },
    servers: [{ url }],
    security: [{ ApiKey: [] }],
    tags: Object.entries(tags).map(([name, description]) => ({ name, description })),
    paths,
    components: {
      securitySchemes: {
        ApiKey: { type: 'http', scheme: 'bearer', description: 'Authorization: Bearer <API_KEY>' },
      },
      headers: host === 'WL' ? { ...headers, ...approvalHeaders } : headers,
      parameters,
      responses: Object.fromEntries(
        errorStatuses.map((status) => [statusNames[status], errorResponse(status)]),
      ),
      schemas: { ...envelopeSchemas, ...Object.fromEntries(Object.entries(schemas).sort()) },
    },
  }
}
