/**
 * The media types and codings of a request: may we answer in JSON, did the caller send JSON, and in which
 * coding may the answer travel. RFC 9110, sections 8.3 and 12.5, read literally; a header that does not follow
 * its grammar admits nothing.
 */
import type { Dialect } from '../contract/index.ts'

interface Element {
  readonly name: string
  readonly parameters: ReadonlyMap<string, string>
}

const token = "[!#$%&'*+.^_`|~0-9A-Za-z-]+"
const parameterForm = new RegExp(`^(${token})=(?:(${token})|"([^"\\\\]*)")$`)
const mediaForm = new RegExp(`^${token}/${token}$`)
const weightForm = /^(?:0(?:\.[0-9]{0,3})?|1(?:\.0{0,3})?)$/

/** One element of a list: a lower-case name and its parameters; undefined when it breaks the grammar. */
function readElement(text: string): Element | undefined {
  const [name = '', ...rest] = text.split(';').map((part) => part.trim())
  const parameters = new Map<string, string>()
  for (const part of rest) {
    const [, key, plain, quoted] = parameterForm.exec(part) ?? []
    if (key === undefined || parameters.has(key.toLowerCase())) return undefined
    parameters.set(key.toLowerCase(), plain ?? quoted ?? '')
  }
  return { name: name.toLowerCase(), parameters }
}

/** 0 to 1, absent 1; undefined when it is no weight. */
function weightOf({ parameters }: Element): number | undefined {
  const text = parameters.get('q')
  if (text === undefined) return 1
  return weightForm.test(text) ? Number(text) : undefined
}

/** Names with their weights; undefined when any element breaks the grammar. */
function readWeights(header: string, form: RegExp): Map<string, number> | undefined {
  const weights = new Map<string, number>()
  for (const text of header.split(',')) {
    if (text.trim() === '') continue
    const element = readElement(text)
    const weight = element && form.test(element.name) ? weightOf(element) : undefined
    if (element === undefined || weight === undefined) return undefined
    weights.set(element.name, Math.max(weight, weights.get(element.name) ?? 0))
  }
  return weights
}

/**
 * Whether an Accept header admits our answers. The native dialect wants `application/json` by name with a
 * weight above zero; the compat dialect takes everything that does not exclude JSON.
 */
export function acceptsJson(header: string | undefined, dialect: Dialect): boolean {
  if (header === 'application/json') return true
  const weights = header === undefined ? undefined : readWeights(header, mediaForm)
  if (dialect === 'native') return (weights?.get('application/json') ?? 0) > 0
  if (weights === undefined || weights.size === 0) return true
  const weight = weights.get('application/json') ?? weights.get('application/*') ?? weights.get('*/*') ?? 0
  return weight > 0
}

/** Whether a body's Content-Type says JSON in UTF-8. */
export function isJsonType(header: string | undefined): boolean {
  if (header === 'application/json') return true
  const element = header === undefined ? undefined : readElement(header)
  if (element?.name !== 'application/json') return false
  return (element.parameters.get('charset') ?? 'utf-8').toLowerCase() === 'utf-8'
}

export type Coding = 'br' | 'gzip' | 'identity'

const codingForm = new RegExp(`^${token}$`)

/** The coding that the caller likes best among ours; on a tie the denser one. */
export function codingOf(header: string | undefined): Coding {
  const weights = header === undefined ? undefined : readWeights(header, codingForm)
  if (weights === undefined) return 'identity'
  const weightOfCoding = (coding: string) => weights.get(coding) ?? weights.get('*') ?? 0
  const [br, gzip] = [weightOfCoding('br'), weightOfCoding('gzip')]
  if (br === 0 && gzip === 0) return 'identity'
  return br >= gzip ? 'br' : 'gzip'
}
