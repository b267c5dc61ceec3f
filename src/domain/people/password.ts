/** Which passwords are refused: those that are guessed first. There is no rule about kinds of characters. */
import { commonPasswords } from './tables/common-passwords.ts'

/** What a guesser knows of the person. */
export interface PasswordOwner {
  readonly email: string
  readonly names: readonly string[]
}

const lengthMin = 8
const lengthMax = 128

/** Why a password is refused, in words for the person who chose it; nothing when it will do. */
export function refusedPassword(password: string, { email, names }: PasswordOwner): string | undefined {
  const length = [...password].length
  if (length < lengthMin || length > lengthMax)
    return `A password has ${lengthMin} to ${lengthMax} characters`
  const plain = password.toLowerCase()
  if (commonPasswords.has(plain) || isMonotonous(plain)) return 'This password is too common'
  const known = [email, email.split('@')[0] ?? '', ...names, names.join(''), names.join(' ')]
  return known.some((word) => word !== '' && plain === word.toLowerCase())
    ? 'A password must not be the name or the address of its owner'
    : undefined
}

/** One character again and again. */
const isMonotonous = (text: string): boolean => new Set(text).size === 1
