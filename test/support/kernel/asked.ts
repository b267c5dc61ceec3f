/** What an op asks of its input in vain: a name that a vector lacks is easier to find than a failure deep in a rule. */

/** The input as it is, with the paths of members that are read and not there noted in `absent`. */
export function watched(input: unknown, absent: Set<string>, path = ''): unknown {
  if (typeof input !== 'object' || input === null) return input
  return new Proxy(input, {
    get(target, name, self) {
      const member: unknown = Reflect.get(target, name, self)
      if (typeof name === 'symbol' || typeof member === 'function') return member
      const place = Array.isArray(target) ? `${path}[${name}]` : path === '' ? name : `${path}.${name}`
      if (member === undefined && !(name in target)) absent.add(place)
      return watched(member, absent, place)
    },
  })
}
