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
  const plain = folded(password)
  if (commonPasswords.has(plain) || isMonotonous(plain)) return 'This password is too common'
  const known = [email, email.split('@')[0] ?? '', ...names, names.join(''), names.join(' ')]
  return known.some((word) => word !== '' && plain === folded(word))
    ? 'A password must not be the name or the address of its owner'
    : undefined
}

/** What everybody knows of the site that a person joins. */
export interface PasswordSite {
  readonly code: string
  readonly name: string
  readonly domain: string | null
}

const platformWord = 'lockstep'

/** Why a password is refused at a site: it is a word of the site or of the platform, be it with a number behind it. */
export function refusedAtSite(password: string, { code, name, domain }: PasswordSite): string | undefined {
  const plain = folded(password)
  const address = domain ?? ''
  const label = address.split('.')[0] ?? ''
  return [platformWord, code, name, name.replaceAll(' ', ''), address, label]
    .map(folded)
    .some((word) => word !== '' && plain.startsWith(word) && /^\d{0,8}$/.test(plain.slice(word.length)))
    ? 'A password must not be the name or the address of its site'
    : undefined
}

/** Without what does not show: how letters are written, and whether an accent is a character of its own. */
const folded = (text: string): string => text.normalize('NFKC').toLowerCase()

/** One character again and again. */
const isMonotonous = (text: string): boolean => new Set(text).size === 1
