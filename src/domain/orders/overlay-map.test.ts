import fc from 'fast-check'
import { describe, expect, test } from 'vitest'
import { withEntry } from './overlay-map.ts'

const keys = fc.integer({ min: 0, max: 199 })
const first = fc.uniqueArray(keys, { minLength: 0, maxLength: 150 })
const later = fc.array(keys, { maxLength: 200 })

describe('a map with entries one after the other', () => {
  test('is what a map would be that is written to, in the same order', () => {
    fc.assert(
      fc.property(first, later, (before, after) => {
        const plain = new Map(before.map((key) => [key, 'first']))
        let map: ReadonlyMap<number, string> = new Map(plain)
        for (const [place, key] of after.entries()) {
          plain.set(key, `change ${place}`)
          map = withEntry(map, key, `change ${place}`)
          expect(map.get(key)).toBe(`change ${place}`)
        }
        expect([...map]).toEqual([...plain])
        expect([...map.keys()]).toEqual([...plain.keys()])
        expect([...map.values()]).toEqual([...plain.values()])
        const visited: [number, string][] = []
        map.forEach((value, key) => {
          visited.push([key, value])
        })
        expect(visited).toEqual([...plain])
        expect(map.size).toBe(plain.size)
        for (let key = 0; key < 200; key++) expect([key, map.has(key)]).toEqual([key, plain.has(key)])
      }),
    )
  })

  test('leaves every map before it as it was', () => {
    const base = new Map(Array.from({ length: 500 }, (_, key) => [key, 0]))
    const versions: ReadonlyMap<number, number>[] = [base]
    for (let step = 1; step <= 300; step++) {
      versions.push(withEntry(versions.at(-1)!, (step * 7) % 600, step))
    }
    for (const [step, version] of versions.entries()) {
      expect(Math.max(...version.values())).toBe(step)
    }
  })
})
