/**
 * Reads a query string into names with all their values, in order and without any conversion. A form-encoded
 * plus is a blank. What cannot be decoded exactly (bad escapes, bytes that are no UTF-8, raw characters outside
 * ASCII, a NUL in a name) makes the whole string unreadable rather than a guess. A NUL in a value is for the
 * reader of the value to refuse: it can say which.
 */

export type Query = Map<string, string[]>

const none: Query = new Map()

/** The parameters of a query string without its question mark; undefined when it cannot be decoded. */
export function readQuery(text: string): Query | undefined {
  if (text === '') return none
  const query: Query = new Map()
  try {
    for (const pair of text.split('&')) {
      if (pair === '') continue
      const at = pair.indexOf('=')
      const name = decode(at < 0 ? pair : pair.slice(0, at))
      if (name.includes('\0')) return undefined
      const value = at < 0 ? '' : decode(pair.slice(at + 1))
      const values = query.get(name)
      if (values === undefined) query.set(name, [value])
      else values.push(value)
    }
  } catch (error) {
    if (error instanceof URIError) return undefined
    throw error
  }
  return query
}

const plain = /^[!#-$&-*,-~]*$/

/** Throws URIError for what has no exact reading. */
function decode(text: string): string {
  if (plain.test(text)) return text
  const decoded = decodeURIComponent(text.replaceAll('+', ' '))
  // A raw character above ASCII reached us as one byte of an unknown encoding.
  for (let at = 0; at < text.length; at++) if (text.charCodeAt(at) > 0x7e) throw new URIError('not ASCII')
  return decoded
}
