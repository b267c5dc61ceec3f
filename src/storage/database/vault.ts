/**
 * Secrets of customers, sealed before they reach a row. Each has a key of its own, which is wrapped by a key of a
 * ring that is kept outside the database; both seals name the place they were made for, so a row's secret opens
 * in that row alone.
 */
import { newSealingKey, seal as sealBytes, unseal as unsealBytes } from './sealing.ts'

/** Keys of 32 bytes by their names. New secrets are wrapped by the current one. */
export interface KeyRing {
  readonly current: string
  readonly keys: ReadonlyMap<string, Buffer>
}

export interface Sealed {
  readonly keyId: string
  readonly wrappedKey: Buffer
  readonly sealed: Buffer
}

function keyOf(ring: KeyRing, keyId: string): Buffer {
  const key = ring.keys.get(keyId)
  if (key === undefined) throw new Error(`the key ring has no key ${keyId}`)
  return key
}

const wrapPlace = (keyId: string, place: string): string => `${keyId}\0${place}`

/** Seals a text for a place, for example a table, a row and a column. */
export function seal(ring: KeyRing, text: string, place: string): Sealed {
  const own = newSealingKey()
  const keyId = ring.current
  const sealed = sealBytes(own, Buffer.from(text), place)
  const wrappedKey = sealBytes(keyOf(ring, keyId), own, wrapPlace(keyId, place))
  own.fill(0)
  return { keyId, wrappedKey, sealed }
}

/** Opens what was sealed for the place; the caller overwrites it after use. Throws when anything differs. */
export function unseal(ring: KeyRing, { keyId, wrappedKey, sealed }: Sealed, place: string): Buffer {
  const own = unsealBytes(keyOf(ring, keyId), wrappedKey, wrapPlace(keyId, place))
  try {
    return unsealBytes(own, sealed, place)
  } finally {
    own.fill(0)
  }
}

/** The same secret, its key wrapped by the ring's current one; the secret itself is not opened. */
export function rewrap(ring: KeyRing, { keyId, wrappedKey, sealed }: Sealed, place: string): Sealed {
  const own = unsealBytes(keyOf(ring, keyId), wrappedKey, wrapPlace(keyId, place))
  const next = sealBytes(keyOf(ring, ring.current), own, wrapPlace(ring.current, place))
  own.fill(0)
  return { keyId: ring.current, wrappedKey: next, sealed }
}

/** Of a key that is lost stays shut what it wrapped, which must not keep the others from being wrapped anew. */
export function rewrapIfOpen(ring: KeyRing, kept: Sealed, place: string): Sealed | undefined {
  try {
    return rewrap(ring, kept, place)
  } catch {
    return undefined
  }
}
