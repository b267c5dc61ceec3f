/** Countries, their subdivisions and languages, by the ISO lists. */

import { iso6393 } from 'iso-639-3'
import { iso31661, iso31662 } from 'iso-3166'

const languages = new Set(iso6393.map((language) => language.iso6393))
const countries = new Set(iso31661.flatMap(({ alpha2, state }) => (state === 'assigned' ? [alpha2] : [])))
const divisions = new Set(iso31662.map(({ code }) => code))
const divided = new Set(iso31662.map(({ code }) => code.slice(0, 2)))

/** Whether it is a language code of ISO 639-3. */
export const isLanguage = (code: string): boolean => languages.has(code)

/** Whether it is a country code of two letters that ISO 3166-1 has assigned. */
export const isCountry = (code: string): boolean => countries.has(code)

/**
 * Whether it is a subdivision of the country by ISO 3166-2, with or without the country in front. A country
 * without subdivisions stands for itself.
 */
export function isDivision(country: string, code: string): boolean {
  if (!divided.has(country)) return code === country
  return divisions.has(code.includes('-') ? code : `${country}-${code}`) && !isForeign(country, code)
}

const isForeign = (country: string, code: string): boolean =>
  code.includes('-') && !code.startsWith(`${country}-`)
