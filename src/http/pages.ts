/**
 * The few pages of the edge itself. They are finished HTML; what they may load and run is fixed by a policy
 * that names the hashes of their own inline style and script, and nothing else.
 */
import { createHash } from 'node:crypto'

/** Text by path, as it reads on the port that the server listens on. */
export type Pages = Readonly<Record<string, (port: number) => string>>

const hashesOf = (html: string, tag: 'style' | 'script'): string[] => {
  const found = html.matchAll(new RegExp(`<${tag}[^>]*>(.*?)</${tag}>`, 'gs'))
  const texts = new Set([...found].flatMap(([, text]) => text || []))
  return [...texts].map((text) => `'sha256-${createHash('sha256').update(text).digest('base64')}'`)
}

/** Headers of a page: nothing foreign, nothing framed, nothing guessed. */
export function pageHeaders(html: string): string[] {
  const policy = [
    "default-src 'none'",
    `style-src 'self' ${hashesOf(html, 'style').join(' ')}`.trim(),
    `script-src 'self' ${hashesOf(html, 'script').join(' ')}`.trim(),
    "img-src 'self' data:",
    "font-src 'self'",
    "connect-src 'self'",
    "base-uri 'none'",
    "form-action 'self'",
    "frame-ancestors 'none'",
  ].join('; ')
  return [
    'Content-Type',
    'text/html; charset=utf-8',
    'Content-Security-Policy',
    policy,
    'X-Frame-Options',
    'DENY',
    'Referrer-Policy',
    'no-referrer',
    'Cross-Origin-Opener-Policy',
    'same-origin',
    'Cross-Origin-Resource-Policy',
    'same-origin',
  ]
}

const smallPage = (title: string, body: string): string => `<!doctype html>
<html lang="en"><head><meta charset="utf-8"><link rel="icon" href="data:,"><meta name="viewport" content="width=device-width, initial-scale=1">
<title>${title}</title><style>body{font:16px/1.5 system-ui,sans-serif;max-width:36rem;margin:4rem auto;padding:0 1rem}button{font:inherit;font-weight:600;padding:.6rem 1.4rem}</style></head>
<body><main><h1>${title}</h1>${body}</main></body></html>
`

/** What the link of a message shows: the address is confirmed by a person, not by a program that looks at links. */
export const confirmPage = smallPage(
  'Is this your e-mail address?',
  '<p>You have opened the link that was sent to it.</p><form method="post"><button>Yes, confirm it</button></form>',
)
export const confirmedPage = smallPage(
  'Thank you',
  '<p>Your e-mail address is confirmed. You may close this page.</p>',
)
export const unknownLinkPage = smallPage(
  'This link does not work',
  '<p>It has run out, or a part of it is missing. Ask the site that has your profile for a new one.</p>',
)
