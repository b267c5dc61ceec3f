/**
 * The form of an access key: `ls_<env>_<keyId>_<secret>_<checksum>`. The prefix lets a scanner find leaked
 * keys, the checksum lets the server drop junk without asking the database, the key id is the only part that
 * may be logged. The secret carries 256 bits; randomness comes in as bytes.
 */

const prefix = 'ls'
const digits = '0123456789ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz'
const keyIdLength = 11
const secretLength = 43
const checksumLength = 6
const form = new RegExp(
  `^${prefix}_([a-z]{1,12})_([0-9A-Za-z]{${keyIdLength}})_[0-9A-Za-z]{${secretLength}}_[0-9A-Za-z]{${checksumLength}}$`,
)
const uuidForm = /^[0-9a-f]{8}-[0-9a-f]{4}-[0-9a-f]{4}-[0-9a-f]{4}-[0-9a-f]{12}$/i

/** Random bytes that a new key is made of: 8 for the public id, 32 for the secret. */
export interface KeyBytes {
  keyId: Uint8Array
  secret: Uint8Array
}

/** A key as text from an environment's name (lower-case letters) and random bytes. */
export function composeKey(env: string, bytes: KeyBytes): { key: string; keyId: string } {
  const keyId = base62(bytes.keyId, keyIdLength)
  const body = `${prefix}_${env}_${keyId}_${base62(bytes.secret, secretLength)}`
  return { key: `${body}_${checksum(body)}`, keyId }
}

/** The public parts of a well-formed key whose checksum is right; undefined for anything else. */
export function readKey(text: string): { env: string; keyId: string } | undefined {
  const [, env, keyId] = form.exec(text) ?? []
  if (env === undefined || keyId === undefined) return undefined
  const body = text.slice(0, -checksumLength - 1)
  return text.endsWith(checksum(body)) ? { env, keyId } : undefined
}

/** True for the key form of older programs, which only some hosts accept. */
export const isUuidKey = (text: string): boolean => uuidForm.test(text)

/** What may be shown of a key after it was issued: where it starts and its last four characters. */
export const maskKey = (key: string): string =>
  `${key.slice(0, key.indexOf('_', prefix.length + 1) + 1)}****${key.slice(-4)}`

/** Bytes as a number in base 62, padded to `length` digits. */
function base62(bytes: Uint8Array, length: number): string {
  let value = bytes.reduce((sum, byte) => (sum << 8n) | BigInt(byte), 0n)
  let text = ''
  for (let place = 0; place < length; place++) {
    text = digits[Number(value % 62n)] + text
    value /= 62n
  }
  return text
}

/** CRC-32 (IEEE 802.3, reflected) of an ASCII text, in base 62. */
function checksum(text: string): string {
  let crc = 0xffffffff
  for (let at = 0; at < text.length; at++) {
    crc ^= text.charCodeAt(at)
    for (let bit = 0; bit < 8; bit++) crc = (crc >>> 1) ^ (crc & 1 ? 0xedb88320 : 0)
  }
  const value = ~crc >>> 0
  return base62(Uint8Array.of(value >>> 24, value >>> 16, value >>> 8, value), checksumLength)
}
