/** The OpenAPI documents beside the pages: of each host, as JSON, found from its reference, counted like every visit. */
import { readFileSync } from 'node:fs'
import { expect, test } from 'vitest'
import { readConfig } from '../../src/bin/config.ts'
import { documentsOf, pagesOf } from '../../src/bin/pages.ts'
import { startEdge } from './support/edge.ts'

const served = (env: NodeJS.ProcessEnv) => {
  const config = readConfig(env)
  return startEdge({ isCounting: () => true, pages: pagesOf(config), documents: documentsOf(config) })
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
