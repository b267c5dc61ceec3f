/** What all objects inherit is the same after every file of tests: nothing that was read has added to it. */
import { afterAll, expect } from 'vitest'

const shared = [Object.prototype, Array.prototype, Function.prototype, String.prototype, Promise.prototype]
const members = (): PropertyKey[][] => shared.map(Reflect.ownKeys)
const before = members()

afterAll(() => {
  expect(members()).toEqual(before)
})
