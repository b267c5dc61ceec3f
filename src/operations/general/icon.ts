/** The picture of a person who has none: the initials on a colour of the person's own. */

import { escaped } from '../../domain/html.ts'

/** What a name may hold and XML may not: one of them, and no browser shows the picture. */
const unwritable = /[\p{Cc}\ufffe\uffff]/gu

/** A `data:` address of an SVG; the same for the same person and name. */
export function iconOf(personId: number, alias: string): string {
  const initials = alias
    .replace(unwritable, ' ')
    .split(/\s+/)
    .flatMap((word) => [...word].slice(0, 1))
    .slice(0, 2)
    .join('')
    .toUpperCase()
  const hue = (personId * 137) % 360
  const svg = `<svg xmlns="http://www.w3.org/2000/svg" viewBox="0 0 64 64"><rect width="64" height="64" fill="hsl(${hue} 45% 40%)"/><text x="32" y="41" font-family="sans-serif" font-size="26" text-anchor="middle" fill="#fff">${escaped(initials)}</text></svg>`
  return `data:image/svg+xml;base64,${Buffer.from(svg).toString('base64')}`
}
