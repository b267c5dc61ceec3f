/**
 * What the edge needs of a request's header lines, taken in one pass over them as they came. Of a header that
 * may come only once a repetition is noted, not merged: two keys, two hosts or two content types are a fault
 * of the caller, and which fault is decided where the header is used.
 */

export interface Head {
  host?: string
  authorization?: string
  accept?: string
  acceptEncoding?: string
  contentType?: string
  contentEncoding?: string
  contentLength?: string
  transferEncoding?: string
  expect?: string
  idempotencyKey?: string
  ifModifiedSince?: string
  requestId?: string
}

/** A header's text when it came more than once; no header of ours can hold it. */
export const repeated = '\0'
export const headersMax = 100

/** The headers of a request, from Node's flat list of names and values. */
export function readHead(raw: readonly string[]): Head {
  const head: Head = {}
  for (let at = 0; at < raw.length; at += 2) {
    const member = members.get(raw[at] ?? '') ?? members.get((raw[at] ?? '').toLowerCase())
    if (member === undefined) continue
    const value = raw[at + 1] ?? ''
    const known = head[member]
    if (known === undefined) head[member] = value
    else head[member] = lists.has(member) ? `${known}, ${value}` : repeated
  }
  return head
}

const lists = new Set<keyof Head>(['accept', 'acceptEncoding'])
const members = new Map<string, keyof Head>([
  ['host', 'host'],
  ['authorization', 'authorization'],
  ['accept', 'accept'],
  ['accept-encoding', 'acceptEncoding'],
  ['content-type', 'contentType'],
  ['content-encoding', 'contentEncoding'],
  ['content-length', 'contentLength'],
  ['transfer-encoding', 'transferEncoding'],
  ['expect', 'expect'],
  ['idempotency-key', 'idempotencyKey'],
  ['if-modified-since', 'ifModifiedSince'],
  ['x-request-id', 'requestId'],
  // As browsers and common clients spell them.
  ['Host', 'host'],
  ['Authorization', 'authorization'],
  ['Accept', 'accept'],
  ['Content-Type', 'contentType'],
  ['Content-Length', 'contentLength'],
])

const absoluteForm = /^https?:\/\/([^/?#]+)\/?(.*)$/i

/**
 * Host and target of a request whose line names both (RFC 9112, 3.2.2), as to a proxy; undefined for every other. The
 * host named there outranks the header.
 */
export function readAbsoluteForm(url: string): { host: string; url: string } | undefined {
  if (url.startsWith('/')) return undefined
  const [, host, rest] = absoluteForm.exec(url) ?? []
  return host === undefined ? undefined : { host, url: `/${rest}` }
}

/** True when the request announces a body, however long. */
export const hasBody = (head: Head): boolean =>
  head.transferEncoding !== undefined || (head.contentLength !== undefined && head.contentLength !== '0')

/** The instant of an HTTP date in any of its three spellings (RFC 9110, 5.6.7); anything else is ignored. */
export function readHttpDate(text: string | undefined): number | undefined {
  if (text === undefined) return undefined
  const modern = [text, ...modernDates(text)].find(isModernDate)
  return modern === undefined ? undefined : Date.parse(modern)
}

function isModernDate(text: string): boolean {
  const at = Date.parse(text)
  return !Number.isNaN(at) && new Date(at).toUTCString() === text
}

const shortYearDate = /^(Mon|Tue|Wed|Thu|Fri|Sat|Sun)[a-z]*day, (\d\d)-(\w{3})-(\d\d) ([\d:]{8} GMT)$/
const unixDate = /^(\w{3}) (\w{3}) ([ \d]\d) ([\d:]{8}) (\d{4})$/

/** What an old spelling may mean in the modern one. The weekday tells the century of a short year. */
function modernDates(text: string): string[] {
  const [, weekday, day, month, year, time] = shortYearDate.exec(text) ?? []
  if (weekday !== undefined)
    return ['20', '19'].map((century) => `${weekday}, ${day} ${month} ${century}${year} ${time}`)
  const [, name, ofYear, ofMonth = '', at, fullYear] = unixDate.exec(text) ?? []
  return name === undefined ? [] : [`${name}, ${ofMonth.replace(' ', '0')} ${ofYear} ${fullYear} ${at} GMT`]
}

const visible = /^[\x21-\x7e]{1,255}$/
const ownId = /^[A-Za-z0-9._-]{1,64}$/

/** 1 to 255 visible ASCII characters. */
export const isIdempotencyKey = (text: string): boolean => visible.test(text)

/** The caller's request id when it is safe in a log line and a header; otherwise there is none. */
export const acceptedRequestId = (text: string | undefined): string | undefined =>
  text !== undefined && ownId.test(text) ? text : undefined
