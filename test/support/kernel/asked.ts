/** What an op asks of its input in vain: a name that a vector lacks is easier to find than a failure deep in a rule. */

const placeIn = (owner: object, name: string, path: string): string =>
  Array.isArray(owner) ? `${path}[${name}]` : path === '' ? name : `${path}.${name}`

/** The input as it is, with the paths of members that are read and not there noted in `absent`. */
export function watched(input: unknown, absent: Set<string>, path = ''): unknown {
  if (typeof input !== 'object' || input === null) return input
  return new Proxy(input, {
    get(target, name, self) {
      const member: unknown = Reflect.get(target, name, self)
      if (typeof name === 'symbol' || typeof member === 'function') return member
      const place = placeIn(target, name, path)
      if (member === undefined && !(name in target)) absent.add(place)
      return watched(member, absent, place)
    },
  })
}

/** The members that a decimal was refused for: its failure tells what they hold and not what they are called. */
export function noNumbers(input: unknown, failure: string): string[] {
  if (!/decimal/i.test(failure)) return []
  const refused = /Invalid argument: (.*)$/.exec(failure)?.[1]
  return placesOf(input, (value) =>
    typeof value === 'number' ? !Number.isFinite(value) : String(value) === refused,
  )
}

function placesOf(input: unknown, isSought: (value: unknown) => boolean, path = ''): string[] {
  if (typeof input !== 'object' || input === null) return isSought(input) ? [path] : []
  return Object.entries(input).flatMap(([name, member]) =>
    placesOf(member, isSought, placeIn(input, name, path)),
  )
}
