import { expect, test } from 'vitest'
import { emailForm } from './email.ts'

/** Every character of the basic plane that Unicode lets programs leave out. */
const ignorable = Array.from({ length: 0x10000 }, (_, code) => code)
  .filter((code) => code < 0xd800 || code > 0xdfff)
  .map((code) => String.fromCodePoint(code))
  .filter((character) => /\p{Default_Ignorable_Code_Point}/u.test(character))

test('an address is taken as it is typed', () => {
  for (const address of ['ann@example.com', 'Ann.O’Hara+site@exämple.com', '安@例え.jp', '😀@example.com'])
    expect([address, emailForm.test(address)]).toEqual([address, true])
})

test('no address has what mail leaves out, before the at sign or behind it', () => {
  const taken = [...ignorable, '<', '>'].filter(
    (character) =>
      emailForm.test(`a${character}nn@example.com`) || emailForm.test(`ann@exam${character}ple.com`),
  )
  expect(taken.map((character) => character.codePointAt(0)?.toString(16))).toEqual([])
})
