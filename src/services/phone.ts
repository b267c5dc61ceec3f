/** Phone numbers by the rules of the countries. */
import { parsePhoneNumberFromString } from 'libphonenumber-js/max'

/**
 * Whether the text is a number in full international form: a plus sign, a country code, as many digits as numbers
 * of that country may have, and no zero where one is only dialled inside the country.
 */
export function isInternationalPhone(text: string): boolean {
  const parsed = parsePhoneNumberFromString(text)
  return parsed?.number === text && parsed.isPossible()
}
