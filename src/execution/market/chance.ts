/**
 * Chance that can be played again: every number is a function of a seed, a step and what it is for, so any step
 * can be asked for without those before it.
 */

/** A normally distributed number (Box and Muller, 1958). */
export function normal(seed: number, step: number, what: string): number {
  const radius = Math.sqrt(-2 * Math.log(1 - uniform(seed, step, what)))
  return radius * Math.cos(2 * Math.PI * uniform(seed, step, `${what} angle`))
}

/** A number in [0, 1), evenly distributed. */
export function uniform(seed: number, step: number, what: string): number {
  let hash = mixed(seed)
  hash = mixed(hash ^ Math.floor(step / 2 ** 32))
  hash = mixed(hash ^ (step % 2 ** 32))
  return mixed(hash ^ hashOf(what)) / 2 ** 32
}

const hashes = new Map<string, number>()

function hashOf(text: string): number {
  const known = hashes.get(text)
  if (known !== undefined) return known
  const hash = [...text].reduce((sum, letter) => mixed(sum ^ (letter.codePointAt(0) ?? 0)), 0)
  hashes.set(text, hash)
  return hash
}

/** Spreads 32 bits over 32 bits: the finisher of MurmurHash3. */
function mixed(bits: number): number {
  let hash = (bits + 0x9e3779b9) | 0
  hash = Math.imul(hash ^ (hash >>> 16), 0x85ebca6b)
  hash = Math.imul(hash ^ (hash >>> 13), 0xc2b2ae35)
  return (hash ^ (hash >>> 16)) >>> 0
}
