/**
 * Maps as values: a new entry makes a new map, and the old one stays what it was. A large map is not copied for
 * it: the new one is the large one with a few changes laid over it, and only when these have become many is a
 * plain map made of both.
 * Invariant: entries keep the order in which their keys first came.
 */

interface Overlay<Key, Value> extends ReadonlyMap<Key, Value> {
  readonly base: ReadonlyMap<Key, Value>
  readonly changes: ReadonlyMap<Key, Value>
}

/** Up to this size a map is copied; so many changes are laid over a larger one. */
export const fewEntries = 64

/** What a large map consists of: mostly an old map, and the few entries that have changed since. */
export function layersOf<Key, Value>(
  map: ReadonlyMap<Key, Value>,
): { readonly base: ReadonlyMap<Key, Value>; readonly changes: ReadonlyMap<Key, Value> } {
  return 'changes' in map ? (map as Overlay<Key, Value>) : { base: map, changes: new Map() }
}

/** The map with one entry more, or another value under its key. */
export function withEntry<Key, Value>(
  map: ReadonlyMap<Key, Value>,
  key: Key,
  value: Value,
): ReadonlyMap<Key, Value> {
  if (map.size < fewEntries) return new Map(map).set(key, value)
  const { base, changes } = layersOf(map)
  const more = new Map(changes).set(key, value)
  return more.size < fewEntries ? overlay(base, more) : new Map([...base, ...more])
}

function overlay<Key, Value>(
  base: ReadonlyMap<Key, Value>,
  changes: ReadonlyMap<Key, Value>,
): Overlay<Key, Value> {
  const added = [...changes.keys()].filter((key) => !base.has(key))
  function* entries(): MapIterator<[Key, Value]> {
    for (const [key, value] of base) yield [key, changes.get(key) ?? value]
    for (const key of added) yield [key, changes.get(key) as Value]
  }
  function* keys(): MapIterator<Key> {
    yield* base.keys()
    yield* added
  }
  function* values(): MapIterator<Value> {
    for (const [, value] of entries()) yield value
  }
  const map: Overlay<Key, Value> = {
    base,
    changes,
    size: base.size + added.length,
    get: (key) => changes.get(key) ?? base.get(key),
    has: (key) => base.has(key) || changes.has(key),
    forEach: (visit, self) => {
      for (const [key, value] of entries()) visit.call(self, value, key, map)
    },
    entries,
    keys,
    values,
    [Symbol.iterator]: entries,
  }
  return map
}
