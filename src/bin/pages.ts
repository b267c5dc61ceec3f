/** The pages of the product's own port: what runs here, and the reference of each host for people and for programs. */
import {
  type HostName,
  hostFacts,
  hostNames,
  openApiOf,
  referencePage,
  referenceStyle,
} from '../contract/index.ts'
import type { Pages } from '../http/pages.ts'
import type { Config } from './config.ts'

/**
 * Where a host is reached from outside: by its own name, or by a prefix of the product's address. How, and at which port,
 * is the same for all of them.
 */
export function baseUrlOf(config: Config, host: HostName, port = config.port): string {
  const address = config.publicUrl ?? addressOf(config, port)
  const { name } = config.hosts[host]
  if (!name) return `${address}/${hostFacts[host].prefix}`
  const { protocol, port: at } = new URL(address)
  return `${protocol}//${name}${at && `:${at}`}`
}

/** The same on this machine, where every host is also reached by its prefix, whatever its name is. */
export const localUrlOf = (address: string, host: HostName): string => `${address}/${hostFacts[host].prefix}`

/** Where the platform listens, as a person may type it. */
export const addressOf = (config: Config, port = config.port): string =>
  `http://${printable(config.host)}:${port}`

/** An address that every interface answers is written as the machine's own. */
const printable = (host: string): string =>
  host === '0.0.0.0' || host === '::' ? 'localhost' : host.includes(':') ? `[${host}]` : host

/** HTML by path, as it reads on the port that the product listens on. */
export function pagesOf(config: Config): Pages {
  const reference = (host: HostName) => `/reference/${hostFacts[host].prefix}`
  const pages = hostNames.map((host) => {
    const audience = { host, dialect: config.hosts[host].dialect }
    return [
      reference(host),
      (port: number) => referencePage(audience, baseUrlOf(config, host, port), documentOf(config, host)),
    ] as const
  })
  const home = () => homePage(hostNames.map((host) => [host, reference(host)]))
  return { '/': home, ...Object.fromEntries(pages) }
}

/** Where the OpenAPI document of a host is; none describes the compatible dialect. */
export const documentOf = ({ hosts }: Config, host: HostName): string | undefined =>
  hosts[host].dialect === 'native' ? `/openapi/${hostFacts[host].prefix}.json` : undefined

/** The OpenAPI documents as JSON by path, with the address of their host. */
export const documentsOf = (config: Config): Pages =>
  Object.fromEntries(
    hostNames.flatMap((host) => {
      const path = documentOf(config, host)
      if (path === undefined) return []
      const textAt = (port: number) => JSON.stringify(openApiOf(host, baseUrlOf(config, host, port)), null, 2)
      return [[path, textAt] as const]
    }),
  )

/** What the product is, in a sentence. */
export const about =
  "Social trading on your own machine: a strategy's orders are filled in a model account and mirrored into the accounts of those who follow it."

const homePage = (links: [HostName, string][]): string => `<!doctype html>
<html lang="en"><head><meta charset="utf-8"><link rel="icon" href="data:,"><meta name="viewport" content="width=device-width, initial-scale=1">
<title>Lockstep</title><style>${referenceStyle}</style></head>
<body><main><h1>Lockstep</h1>
<p>${about}</p>
<h2>Reference</h2><ul>${links.map(([host, path]) => `<li><a href="${path}">${host} host</a></li>`).join('')}</ul>
<h2>Guides</h2><p><a href="/docs/README.md">All pages</a>, as Markdown; <a href="/llms.txt">an index for programs</a>.</p>
</main></body></html>
`
