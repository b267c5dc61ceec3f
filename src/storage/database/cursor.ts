/**
 * Cursors as the outside sees them: opaque, signed, an hour long. What a cursor is bound to (operation,
 * filters, order, key) is part of the signature only, so a cursor used elsewhere is simply not ours.
 */
import { createHmac, timingSafeEqual } from 'node:crypto'

const lifetimeMs = 3_600_000
const signatureBytes = 32

/** A key as PostgreSQL writes its columns. */
type KeyText = readonly string[]
/** Everything up to `key` (from the segment before it) was delivered as `snapshot` (a pg_snapshot) saw it. */
export type Segment = readonly [key: KeyText, snapshot: string]

/** Where a scan stands: what was delivered, and whether to go on or back from there. */
export interface Position {
  readonly direction: 'next' | 'prev'
  /** In the order of the scan; never empty. */
  readonly segments: readonly Segment[]
  /** Where a scan that goes down began: what is above came later. Absent when it goes up. */
  readonly top?: KeyText
}

export type CursorRefusal = 'CursorInvalid' | 'CursorExpired'

/** What a cursor is good for. All of it must be the same when it comes back. */
export interface CursorBinding {
  readonly secret: string | Buffer
  readonly operation: string
  /** Canonical text of everything that chooses the rows. */
  readonly filters: string
  readonly order: 'asc' | 'desc'
  /** Who asks: the id of the access key. */
  readonly keyId: string
}

/** Writes a cursor; `now` is the business clock in epoch milliseconds. */
export function writeCursor(position: Position, binding: CursorBinding, now: number): string {
  const { direction, segments, top } = position
  const payload = Buffer.from(JSON.stringify([now, direction, segments, ...(top ? [top] : [])]))
  return Buffer.concat([sign(payload, binding), payload]).toString('base64url')
}

/** Reads a cursor. `CursorInvalid` when it is not exactly one of ours for this use, else `CursorExpired` by age. */
export function readCursor(text: string, binding: CursorBinding, now: number): Position | CursorRefusal {
  const bytes = Buffer.from(text, 'base64url')
  const payload = bytes.subarray(signatureBytes)
  // The decoder skips what it does not know: only the one canonical spelling counts.
  if (payload.length === 0 || bytes.toString('base64url') !== text) return 'CursorInvalid'
  if (!timingSafeEqual(bytes.subarray(0, signatureBytes), sign(payload, binding))) return 'CursorInvalid'
  const [issued, direction, segments, top] = JSON.parse(payload.toString()) as [
    number,
    Position['direction'],
    Position['segments'],
    Position['top']?,
  ]
  return now - issued > lifetimeMs ? 'CursorExpired' : { direction, segments, ...(top && { top }) }
}

function sign(payload: Buffer, { secret, operation, filters, order, keyId }: CursorBinding): Buffer {
  const bound = JSON.stringify([operation, filters, order, keyId])
  return createHmac('sha256', secret).update(bound).update('\n').update(payload).digest()
}
