/** JSON that never rounds: bigints are written as numbers, and integers a number cannot hold are refused. */

/**
 * JSON text of plain data; undefined members are left out. Throws a RangeError on NaN and the infinities: JSON has none
 * of them, and the null that stands for them elsewhere means absent, so a wrong limit would be sent as no limit.
 */
export function exactJson(value: unknown): string {
  if (typeof value === 'bigint') return String(value)
  if (typeof value === 'number' && !Number.isFinite(value)) throw new RangeError(`${value} cannot be sent`)
  if (Array.isArray(value)) return `[${value.map(exactJson).join(',')}]`
  if (typeof value !== 'object' || value === null) return JSON.stringify(value)
  const members = Object.entries(value).filter(([, member]) => member !== undefined)
  return `{${members.map(([name, member]) => `${JSON.stringify(name)}:${exactJson(member)}`).join(',')}}`
}

/** Parses JSON. Throws a RangeError on an integer beyond 2^53, which would lose its last digits. */
export function parseExact(text: string): unknown {
  const mayRound = /[0-9]{16}/.test(text)
  return JSON.parse(text, mayRound ? refuseUnsafe : undefined)
}

function refuseUnsafe(_name: string, value: unknown): unknown {
  if (typeof value === 'number' && Number.isInteger(value) && !Number.isSafeInteger(value))
    throw new RangeError(`integer beyond 2^53 in an answer: about ${value}`)
  return value
}
