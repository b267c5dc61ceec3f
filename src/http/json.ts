/**
 * Reads one JSON text strictly (RFC 8259, and beyond): UTF-8 without a byte order mark, unique member names,
 * no NUL, no lone surrogate, nothing after the value, at most 20 levels. Integers stay exact: a number up to
 * 2^53, a bigint above. A decimal that a double cannot hold and print again stays `{ inexact: text }`.
 * Linear in time; the names of Object.prototype are ordinary members, `__proto__` is refused.
 */
import { isUtf8 } from 'node:buffer'
import { isSameDecimal } from '../contract/index.ts'
import { readPlainJson } from './plain-json.ts'

export type Json =
  | null
  | boolean
  | number
  | bigint
  | string
  | Json[]
  | { inexact: string }
  | { [name: string]: Json }

const depthMax = 20
/** Digits of an integer up to here are exact in a double. */
const safeDigits = 15
/** Integers longer than this are out of every range and not worth the arithmetic. */
const bigintDigitsMax = 40

interface Reader {
  readonly text: string
  at: number
  depth: number
}

class Malformed extends Error {}

/** The value of a JSON text, or where and why it cannot be read. */
export const readJson = (bytes: Buffer): { value: Json } | { fault: string } =>
  (readPlainJson(bytes, depthMax) as { value: Json } | undefined) ?? readAnyJson(bytes)

/** The same for any text, character by character. */
export function readAnyJson(bytes: Buffer): { value: Json } | { fault: string } {
  if (!isUtf8(bytes)) return { fault: 'not UTF-8' }
  const reader: Reader = { text: bytes.toString('utf8'), at: 0, depth: 0 }
  try {
    skipBlanks(reader)
    const value = readValue(reader)
    skipBlanks(reader)
    if (reader.at < reader.text.length) fail(reader, 'text after the value')
    return { value }
  } catch (error) {
    if (error instanceof Malformed) return { fault: error.message }
    throw error
  }
}

function fail(reader: Reader, what: string): never {
  throw new Malformed(`${what} at character ${reader.at}`)
}

function skipBlanks(reader: Reader): void {
  for (;;) {
    const unit = reader.text.charCodeAt(reader.at)
    if (unit !== 0x20 && unit !== 0x0a && unit !== 0x0d && unit !== 0x09) return
    reader.at++
  }
}

function readValue(reader: Reader): Json {
  switch (reader.text.charCodeAt(reader.at)) {
    case 0x7b: // {
      return readObject(reader)
    case 0x5b: // [
      return readArray(reader)
    case 0x22: // "
      return readString(reader)
    case 0x74: // t
      return readWord(reader, 'true', true)
    case 0x66: // f
      return readWord(reader, 'false', false)
    case 0x6e: // n
      return readWord(reader, 'null', null)
    default:
      return readNumber(reader)
  }
}

function readWord<T>(reader: Reader, word: string, value: T): T {
  if (!reader.text.startsWith(word, reader.at)) fail(reader, 'no JSON value')
  reader.at += word.length
  return value
}

function enter(reader: Reader): void {
  reader.at++
  if (++reader.depth > depthMax) fail(reader, `more than ${depthMax} levels`)
  skipBlanks(reader)
}

/** Steps over a comma (true) or the closing bracket (false). */
function hasNext(reader: Reader, close: number): boolean {
  skipBlanks(reader)
  const unit = reader.text.charCodeAt(reader.at)
  if (unit !== 0x2c && unit !== close) fail(reader, 'no comma and no closing bracket')
  reader.at++
  if (unit === close) {
    reader.depth--
    return false
  }
  skipBlanks(reader)
  return true
}

function readArray(reader: Reader): Json[] {
  const items: Json[] = []
  enter(reader)
  if (isEmpty(reader, 0x5d)) return items
  do items.push(readValue(reader))
  while (hasNext(reader, 0x5d))
  return items
}

function readObject(reader: Reader): { [name: string]: Json } {
  const members: { [name: string]: Json } = {}
  enter(reader)
  if (isEmpty(reader, 0x7d)) return members
  do {
    if (reader.text.charCodeAt(reader.at) !== 0x22) fail(reader, 'no member name')
    const name = readString(reader)
    skipBlanks(reader)
    if (reader.text.charCodeAt(reader.at) !== 0x3a) fail(reader, 'no colon')
    reader.at++
    skipBlanks(reader)
    setMember(reader, members, name, readValue(reader))
  } while (hasNext(reader, 0x7d))
  return members
}

function isEmpty(reader: Reader, close: number): boolean {
  if (reader.text.charCodeAt(reader.at) !== close) return false
  reader.at++
  reader.depth--
  return true
}

function setMember(reader: Reader, members: { [name: string]: Json }, name: string, value: Json): void {
  if (!(name in members)) members[name] = value
  else if (name === '__proto__' || Object.hasOwn(members, name))
    fail(reader, 'repeated or reserved member name')
  else Object.defineProperty(members, name, { value, enumerable: true, configurable: true, writable: true })
}

/** Everything up to a quote, a backslash or a control character. */
const plainRun = /[ !#-[\]-\uffff]*/y
const escapes: Record<string, string> = {
  '"': '"',
  '\\': '\\',
  '/': '/',
  b: '\b',
  f: '\f',
  n: '\n',
  r: '\r',
  t: '\t',
}

function readString(reader: Reader): string {
  reader.at++
  const start = reader.at
  skipPlain(reader)
  if (reader.text.charCodeAt(reader.at) === 0x22) return reader.text.slice(start, reader.at++)
  let text = reader.text.slice(start, reader.at)
  while (reader.text.charCodeAt(reader.at) === 0x5c) {
    text += readEscape(reader)
    const from = reader.at
    skipPlain(reader)
    text += reader.text.slice(from, reader.at)
  }
  if (reader.text.charCodeAt(reader.at) !== 0x22) fail(reader, 'control character or open end in a string')
  reader.at++
  return text
}

function skipPlain(reader: Reader): void {
  plainRun.lastIndex = reader.at
  plainRun.test(reader.text)
  reader.at = plainRun.lastIndex
}

function readEscape(reader: Reader): string {
  const letter = reader.text[reader.at + 1] ?? ''
  if (letter === 'u') return readUnit(reader)
  const meant = Object.hasOwn(escapes, letter) ? escapes[letter] : undefined
  if (meant === undefined) fail(reader, 'unknown escape')
  reader.at += 2
  return meant
}

/** `\uXXXX`, or two of them that make a pair. Half a pair is no character, NUL is none we keep. */
function readUnit(reader: Reader): string {
  const first = readHex(reader)
  if (first === 0) fail(reader, 'NUL')
  if (first < 0xd800 || first > 0xdfff) return String.fromCharCode(first)
  if (first > 0xdbff || !reader.text.startsWith('\\u', reader.at)) fail(reader, 'lone surrogate')
  const second = readHex(reader)
  if (second < 0xdc00 || second > 0xdfff) fail(reader, 'lone surrogate')
  return String.fromCharCode(first, second)
}

function readHex(reader: Reader): number {
  const text = reader.text.slice(reader.at + 2, reader.at + 6)
  if (!/^[0-9A-Fa-f]{4}$/.test(text)) fail(reader, 'malformed escape')
  reader.at += 6
  return Number.parseInt(text, 16)
}

const numberForm = /(-?)(0|[1-9][0-9]*)(?:\.([0-9]+))?(?:[eE]([+-]?[0-9]+))?/y

function readNumber(reader: Reader): Json {
  numberForm.lastIndex = reader.at
  const [text, sign = '', whole = '', fraction, exponent] = numberForm.exec(reader.text) ?? []
  if (text === undefined) fail(reader, 'no JSON value')
  reader.at += text.length
  if (fraction === undefined && exponent === undefined) return integerOf(text, sign, whole)
  const value = Number(text)
  const isShort = exponent === undefined && whole.length + (fraction?.length ?? 0) <= safeDigits
  if (isShort || isSameDecimal(text, value)) return value === 0 ? 0 : value
  return { inexact: text }
}

function integerOf(text: string, sign: string, whole: string): Json {
  if (whole.length <= safeDigits) return whole === '0' ? 0 : Number(text)
  if (whole.length > bigintDigitsMax) return { inexact: text }
  const value = BigInt(sign + whole)
  return Number.isSafeInteger(Number(value)) ? Number(value) : value
}
