/** The product's own pages as a platform serves them: Markdown under their paths, and one index for programs that read. */
import { existsSync, readdirSync, readFileSync } from 'node:fs'
import { join, sep } from 'node:path'
import { type HostName, hostNames } from '../contract/index.ts'
import type { Pages } from '../http/pages.ts'
import type { Config } from './config.ts'
import { about, addressOf, baseUrlOf, documentOf, documentsOf } from './pages.ts'

const here = join(import.meta.dirname, '..', '..')
const index = 'docs/README.md'

/** All that is served beside the pages: the OpenAPI documents of the hosts, and the guides. */
export const textsOf = (config: Config): Pages => ({ ...documentsOf(config), ...guidesOf(config) })

/** Text by path: `/llms.txt`, `/README.md`, `/docs/...`. Read when it is first asked for; an installation may be without. */
export function guidesOf(config: Config, root = here): Pages {
  const docs = join(root, 'docs')
  const below = existsSync(docs) ? readdirSync(docs, { recursive: true, encoding: 'utf8' }) : []
  const pages = below
    .map((name) => `docs/${name.replaceAll(sep, '/')}`)
    .filter((name) => /\.(md|yml)$/.test(name))
  const files = ['README.md', 'CONTRIBUTING.md', 'CHANGELOG.md', ...pages].filter((file) =>
    existsSync(join(root, file)),
  )
  const textOf = (file: string): string => readFileSync(join(root, file), 'utf8')
  return {
    ...(files.includes(index) && { '/llms.txt': (port) => indexAt(config, port, textOf(index)) }),
    ...Object.fromEntries(files.map((file) => [`/${file}`, () => textOf(file)])),
  }
}

/** The list of all pages with whole addresses, behind what a program needs first: https://llmstxt.org has the form. */
function indexAt(config: Config, port: number, text: string): string {
  const address = config.publicUrl ?? addressOf(config, port)
  const sections = text.slice(text.indexOf('\n## ')).replace(/\]\(([^)\s]+)\)/g, (_, target: string) => {
    return `](${new URL(target, `${address}/${index}`)})`
  })
  const hosts = hostNames.map((host) => `- ${interfaceOf(config, host, address, port)}`)
  return `# Lockstep

> ${about}

What it is, how it is started and the first calls: [README](${address}/README.md).

## The interface

${hosts.join('\n')}
${sections}`
}

function interfaceOf(config: Config, host: HostName, address: string, port: number): string {
  const base = baseUrlOf(config, host, port)
  const document = documentOf(config, host)
  if (document === undefined) return `${host} host: calls at ${base}, in the compatible dialect.`
  return `[${host} host](${address}${document}): OpenAPI 3.1; calls at ${base}.`
}
