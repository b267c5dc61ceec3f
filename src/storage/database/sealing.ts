/**
 * Sealed data: AES-256-GCM with a random nonce, bound to what it belongs to. Every record has a key of its own,
 * which is stored sealed with a key from outside the database; whoever destroys it destroys the record, in backups
 * too once these have gone their way.
 */
import { createCipheriv, createDecipheriv, randomBytes } from 'node:crypto'

const algorithm = 'aes-256-gcm'
const nonceLength = 12
const tagLength = 16

/** A new record key. */
export const newSealingKey = (): Buffer => randomBytes(32)

/** Nonce, sealed bytes, tag. `belongsTo` must be given again to open it. */
export function seal(key: Buffer, plain: Uint8Array, belongsTo: string): Buffer {
  const nonce = randomBytes(nonceLength)
  const cipher = createCipheriv(algorithm, key, nonce).setAAD(Buffer.from(belongsTo))
  return Buffer.concat([nonce, cipher.update(plain), cipher.final(), cipher.getAuthTag()])
}

/** The plain bytes. Throws when the key is another, when a bit was changed or when it belongs to something else. */
export function unseal(key: Buffer, sealed: Buffer, belongsTo: string): Buffer {
  const decipher = createDecipheriv(algorithm, key, sealed.subarray(0, nonceLength), {
    authTagLength: tagLength,
  })
  decipher.setAAD(Buffer.from(belongsTo)).setAuthTag(sealed.subarray(-tagLength))
  return Buffer.concat([decipher.update(sealed.subarray(nonceLength, -tagLength)), decipher.final()])
}
