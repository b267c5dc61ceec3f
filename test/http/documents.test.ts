/**
 * The documents beside the pages: OpenAPI of each host, as JSON, found from its reference, counted like every visit; the
 * product's own pages as Markdown, and their index.
 */
import { readFileSync } from 'node:fs'
import { expect, test } from 'vitest'
import { readConfig } from '../../src/bin/config.ts'
import { guidesOf, textsOf } from '../../src/bin/guides.ts'
import { pagesOf } from '../../src/bin/pages.ts'
import { startEdge } from './support/edge.ts'

const served = (env: NodeJS.ProcessEnv, isCounting = true) => {
  const config = readConfig(env)
  return startEdge({ isCounting: () => isCounting, pages: pagesOf(config), documents: textsOf(config) })
}

test.each([
  ['gen', 'general'],
  ['geo', 'geo'],
  ['wl', 'whitelabel'],
])('of %s', async (host, file) => {
  const edge = await served({ PUBLIC_URL: 'https://trading.example' })
  const { status, headers, text } = await edge.call(`/openapi/${host}.json`)
  expect([status, headers['content-type']]).toEqual([200, 'application/json; charset=utf-8'])
  expect([headers['x-content-type-options'], headers['x-limit-remaining']]).toEqual(['nosniff', '99'])
  const document = JSON.parse(text)
  expect(document.servers).toEqual([{ url: `https://trading.example/${host}` }])
  const committed = JSON.parse(readFileSync(`openapi/${file}.json`, 'utf8'))
  expect(document).toEqual({ ...committed, servers: document.servers })
  expect((await edge.call(`/reference/${host}`)).text).toContain(`href="/openapi/${host}.json"`)
})

test('there is none of a host that speaks another dialect', async () => {
  const edge = await served({ GEN_DIALECT: 'compat' })
  const { status, text } = await edge.call('/openapi/gen.json')
  expect([status, JSON.parse(text).ResponseStatus.ErrorCode]).toEqual([404, '404'])
  expect((await edge.call('/reference/gen')).text).not.toContain('openapi')
  expect((await edge.call('/openapi/wl.json')).status).toBe(200)
})

test('the index names what is there, and what the pages link to is there as well', async () => {
  const edge = await served({ PUBLIC_URL: 'https://trading.example' }, false)
  const { status, headers, text } = await edge.call('/llms.txt')
  expect([status, headers['content-type']]).toEqual([200, 'text/plain; charset=utf-8'])
  const named = [...text.matchAll(/\]\(https:\/\/trading\.example([^)]+)\)/g)].map(([, path = '']) => path)
  expect(named.length).toBeGreaterThan(15)
  expect(named).toEqual(
    expect.arrayContaining(['/openapi/gen.json', '/docs/guides/developer.md', '/README.md']),
  )
  expect((await edge.call('/')).text).toContain('href="/llms.txt"')
  const seen = new Map<string, number>()
  for (const path of named) {
    const page = await edge.call(path)
    seen.set(path, page.status)
    const links = path.endsWith('.md') ? [...page.text.matchAll(/\]\(([^)#\s]+\.md)[^)]*\)/g)] : []
    for (const [, link = ''] of links) {
      const { origin, pathname } = new URL(link, `https://trading.example${path}`)
      if (origin === 'https://trading.example')
        seen.set(pathname, seen.get(pathname) ?? (await edge.call(pathname)).status)
    }
  }
  expect([...seen].filter(([, answered]) => answered !== 200)).toEqual([])
})

test('a page is its file, and no other file is to be had', async () => {
  const edge = await served({ GEN_DIALECT: 'compat' })
  expect((await edge.call('/docs/concepts/fees.md')).text).toBe(readFileSync('docs/concepts/fees.md', 'utf8'))
  expect((await edge.call('/llms.txt')).text).toContain('Gen host: calls at http://')
  for (const path of ['/package.json', '/docs/../package.json', '/docs/%2e%2e/package.json', '/docs'])
    expect((await edge.call(path)).status, path).toBe(404)
})

test('an installation without its documents serves none', () => {
  expect(guidesOf(readConfig({}), '/nowhere')).toEqual({})
})
