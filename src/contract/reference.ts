/**
 * The reference of a host as one HTML page without scripts and without foreign requests. Its only style is
 * `referenceStyle`, inline, so a policy of `default-src 'none'` plus the hash of that text shows it.
 */
import { escaped } from '../domain/html.ts'
import { errorCodes, errorStatuses, statusesOf, statusNames } from './errors.ts'
import { exampleOf, queryOf } from './example.ts'
import { hostFacts, type Route, routesOf } from './hosts.ts'
import { noteOf } from './notes.ts'
import { type Access, takesBody } from './row.ts'
import { type Audience, type Field, isKnownTo, type Members, nameIn, type Shape } from './schema.ts'

/** The exact text between the page's style tags; a policy lists its hash. */
export const referenceStyle = `
:root { color-scheme: light dark; --line: #8884; --soft: #8882; --accent: #1d5fe0 }
body { font: 16px/1.5 system-ui, sans-serif; margin: 0 }
nav { padding: 1rem; box-sizing: border-box }
nav a { display: block; font-size: .85rem; text-decoration: none; color: inherit; padding: .1rem 0 }
nav a:hover, nav a:focus { color: var(--accent) }
main { padding: 1rem 2rem 6rem; max-width: 60rem; min-width: 0 }
section { border-top: 1px solid var(--line); margin-top: 2.5rem }
code, pre { font: .85rem/1.5 ui-monospace, monospace }
pre { background: var(--soft); padding: .8rem; border-radius: .4rem; overflow: auto }
table { border-collapse: collapse; width: 100%; font-size: .9rem }
td, th { text-align: left; vertical-align: top; padding: .25rem .8rem .25rem 0; border-bottom: 1px solid var(--line) }
h3 { font-size: 1.25rem } h4 { margin: 1.2rem 0 .3rem }
.method { color: var(--accent); font-weight: 600 }
.wide { overflow-x: auto }
h3, p { overflow-wrap: anywhere }
@media (prefers-color-scheme: dark) { :root { --accent: #8ab0ff } }
@media (min-width: 50rem) {
  body:has(nav) { display: grid; grid-template-columns: 18rem 1fr }
  nav { position: sticky; top: 0; height: 100vh; overflow: auto; border-right: 1px solid var(--line) }
}
@media (max-width: 30rem) { main { padding: 1rem 1rem 4rem } }
`

const accessWords: Readonly<Record<Access['rule'], string>> = {
  anyKey: 'any valid key',
  visibleStrategy: 'any valid key, for strategies it may see',
  strategyViewer: 'the owner of the strategy, its live subscribers, admins of the site of the owner',
  strategyOwner: 'the owner of the strategy',
  strategyFollowers: 'the owner of the strategy, admins of the site (own customers), a subscriber (own rows)',
  personReader: 'the person; admins of the site of the person',
  person: 'the person',
  ownOrSite: 'the person (own rows); admins of the site (members)',
  siteAdmin: 'admins of the site',
  approvalViewer: 'the person; admins of the site of the person',
}

const whoMayCall = (access: Access): string => {
  const permission = access.rule === 'siteAdmin' ? access.permission : undefined
  return `${accessWords[access.rule]}${permission === undefined ? '' : ` with the permission ${permission}`}`
}

interface Place extends Audience {
  readonly side: 'request' | 'answer'
}

function numberWords({ sign }: Extract<Shape, { kind: 'number' }>, { dialect }: Place): string {
  if (sign === 'positive') return 'number above 0'
  return sign === 'nonzero' && dialect === 'native' ? 'number, not 0' : 'number'
}

function typeWords(shape: Shape, place: Place): string {
  switch (shape.kind) {
    case 'integer':
      return `integer (${shape.bits} bits)${rangeWords(shape)}`
    case 'number':
      return numberWords(shape, place)
    case 'instant':
      return place.side === 'request' ? 'ISO 8601 date or date-time' : 'ISO 8601 date-time'
    case 'code':
      return shape.values.join(' | ')
    case 'array':
      return `array of ${typeWords(shape.items.shape, place)}${countWords(shape)}`
    case 'signal':
      throw new Error('a signal is shown as its version answers it')
    case 'boolean':
    case 'object':
    case 'text':
      return shape.kind
  }
}

function rangeWords({ min, max, clamp }: Extract<Shape, { kind: 'integer' }>): string {
  const words = [
    ...(min === undefined ? [] : [`at least ${min}`]),
    ...(max === undefined ? [] : [`at most ${max}`]),
    ...(clamp === undefined ? [] : [`lowered to ${clamp}`]),
  ]
  return words.map((word) => `, ${word}`).join('')
}

function countWords({ min, max, unique }: Extract<Shape, { kind: 'array' }>): string {
  const count = max === undefined ? '' : `, ${min ?? 0} to ${max}`
  return `${count}${unique ? ', unique' : ''}`
}

type Version = Route['version']

/** A signal as a version answers it: its id, or its row. */
function asAnswered(field: Field, version: Version): Field {
  const { shape } = field
  if (shape.kind === 'array')
    return { ...field, shape: { ...shape, items: asAnswered(shape.items, version) } }
  if (shape.kind !== 'signal') return field
  return { ...field, shape: version === 2 ? shape.row.shape : { kind: 'integer', bits: 64 } }
}

/** The members a page row is made of: nested objects with their dotted paths. */
function flattened(
  members: Members,
  to: Audience,
  version: Version,
  at: string,
): readonly (readonly [path: string, name: string, Field])[] {
  return Object.entries(members)
    .filter(([, field]) => isKnownTo(field, to) && !field.ignored)
    .flatMap(([name, known]) => {
      const path = at + nameIn(to.dialect, name, known)
      const field = asAnswered(known, version)
      const { shape } = field
      const inner = shape.kind === 'array' ? shape.items.shape : shape
      const mark = shape.kind === 'array' ? '[].' : '.'
      const nested = inner.kind === 'object' ? flattened(inner.members, to, version, path + mark) : []
      return [[path, name, field] as const, ...nested]
    })
}

function presenceWords({ presence, default: value }: Field): string {
  return presence === 'always' ? 'required' : value === undefined ? 'optional' : `default ${value}`
}

/** A table with names for its columns; on a narrow screen it moves by itself and not with the page. */
function tableOf(columns: readonly string[], lines: readonly string[]): string {
  const head = columns.map((column) => `<th scope="col">${column}</th>`).join('')
  return `<div class="wide"><table><thead><tr>${head}</tr></thead><tbody>${lines.join('')}</tbody></table></div>`
}

const fieldColumns = {
  request: ['Name', 'Type', 'Needed', 'Meaning'],
  answer: ['Name', 'Type', 'Presence', 'Meaning'],
} as const

function fieldTable(members: Members, place: Place, version: Version): string {
  const { side } = place
  const lines = flattened(members, place, version, '').map(([path, name, field]) => {
    const presence =
      side === 'request' ? presenceWords(field) : field.presence === 'maybe' ? 'may be absent' : ''
    const cells = [typeWords(field.shape, place), presence, noteOf(name, field, place) ?? '']
    return `<tr><td><code>${escaped(path)}</code></td>${cells.map((cell) => `<td>${escaped(cell)}</td>`).join('')}</tr>`
  })
  return lines.length === 0 ? '<p>None.</p>' : tableOf(fieldColumns[side], lines)
}

function curlOf(route: Route, to: Audience, baseUrl: string): string {
  const example = exampleOf(route.row, to)
  const hasBody = takesBody(route)
  const query = new URLSearchParams()
  for (const [name, values] of hasBody ? [] : queryOf(example))
    for (const value of values) query.append(name, value)
  const search = query.size === 0 ? '' : `?${query.toString()}`
  const lines = [
    `curl -X ${route.method} '${baseUrl}${route.path}${search}'`,
    `-H 'Authorization: Bearer <API_KEY>'`,
    `-H 'Accept: application/json'`,
    ...(hasBody ? [`-H 'Content-Type: application/json'`, `-d '${JSON.stringify(example)}'`] : []),
  ]
  return lines.join(' \\\n  ')
}

function errorWords(without: readonly number[]): string {
  const statuses = errorStatuses.filter((status) => !without.includes(status))
  return statuses.map((status) => `${status} ${statusNames[status]}`).join(', ')
}

function resultTable(route: Route, to: Audience): string {
  const { shape } = route.row.result
  const place = { ...to, side: 'answer' } as const
  return shape.kind === 'object'
    ? fieldTable(shape.members, place, route.version)
    : `<p>${escaped(typeWords(shape, place))}</p>`
}

/** One operation may have two routes on a host. */
const anchorOf = ({ operation, version }: Route): string => (version === 2 ? `${operation}-v2` : operation)

function sectionOf(route: Route, to: Audience, baseUrl: string): string {
  const { row, operation, method, path } = route
  const notes = [row.notes, ...(row.needs ?? []).map(({ says }) => says)]
    .filter((note) => note !== undefined)
    .map((note) => (to.dialect === 'compat' ? note.replaceAll('PlatformSymbol', 'C2Symbol') : note))
  return `<section id="${anchorOf(route)}"><h3>${operation}</h3>
<p><code><span class="method">${method}</span> ${path}</code></p>
<p>${escaped(row.says)}</p>${notes.map((note) => `<p>${escaped(note)}</p>`).join('')}
<p>Who may call: ${escaped(whoMayCall(row.access))}.${row.paginated ? ' Paginated.' : ''}${row.conditional ? ' Takes If-Modified-Since: 304 says that nothing changed.' : ''}</p>
<h4>Parameters (${takesBody(row) ? 'JSON body' : 'query'})</h4>${fieldTable(row.params, { ...to, side: 'request' }, route.version)}
<h4>${row.bare ? 'Answer: a bare boolean' : 'Results'}</h4>${row.bare ? '' : resultTable(route, to)}
<h4>Errors</h4><p>${escaped(errorWords(row.without ?? []))}</p>
<h4>Example</h4><pre>${escaped(curlOf(route, to, baseUrl))}</pre></section>`
}

function errorTable(): string {
  const lines = Object.entries(errorCodes).map(
    ([code, { name, cause, fix }]) =>
      `<tr><td>${code}</td><td>${name}</td><td>${statusesOf(code)}</td><td>${escaped(cause)}</td><td>${escaped(fix)}</td></tr>`,
  )
  return tableOf(['Code', 'Name', 'Status', 'Cause', 'What to do'], lines)
}

/** The page of a host; `baseUrl` stands in the examples, `document` is where its OpenAPI document is, if it has one. */
export function referencePage(to: Audience, baseUrl: string, document?: string): string {
  const routes = routesOf(to.host, to.dialect)
  const title = escaped(hostFacts[to.host].title)
  const links = routes.map(
    (route) => `<a href="#${anchorOf(route)}">${route.operation}${route.version === 2 ? ' v2' : ''}</a>`,
  )
  return `<!doctype html>
<html lang="en"><head><meta charset="utf-8"><link rel="icon" href="data:,"><meta name="viewport" content="width=device-width, initial-scale=1">
<title>${title}</title><style>${referenceStyle}</style></head>
<body><nav><strong>${title}</strong><a href="#errors">Errors</a>${links.join('')}</nav>
<main><h1>${title}</h1>
<p>Base: <code>${escaped(baseUrl)}</code>. Every call carries <code>Authorization: Bearer &lt;API_KEY&gt;</code> and <code>Accept: application/json</code>.
Answers are <code>{"Results":[…],"Pagination":{…},"ResponseStatus":{"ErrorCode":"200"}}</code>; absent members are left out.
Moments are in UTC.${document === undefined ? '' : ` For programs: <a href="${escaped(document)}">the same as an OpenAPI document</a>.`}</p>
<p>A POST, PUT or DELETE may carry <code>Idempotency-Key: &lt;UUID&gt;</code>: sent again within 24 hours with the same key and body it has one effect
and the same answer, which then carries <code>Idempotent-Replayed: true</code>. <code>X-Limit-Remaining</code> says how many calls are left; one too many is answered 429 and may be sent again after <code>Retry-After</code> seconds.</p>
<h2>Operations</h2>
${routes.map((route) => sectionOf(route, to, baseUrl)).join('\n')}
<section id="errors"><h2>Errors</h2>${errorTable()}</section></main></body></html>
`
}
