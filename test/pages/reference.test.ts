/** The reference pages in a real browser: they are shown, they ask nobody else for anything, they break no rule. */
import Fastify from 'fastify'
import type { Browser } from 'playwright-core'
import { afterAll, beforeAll, describe, expect, test } from 'vitest'
import { readConfig } from '../../src/bin/config.ts'
import { pagesOf } from '../../src/bin/pages.ts'
import { pageHeaders } from '../../src/http/pages.ts'
import { browserPath, launchBrowser } from '../support/browser.ts'

const pages = pagesOf(readConfig({}))
const app = Fastify()
let browser: Browser
let base = ''

/** Run in the page: how wide it is, and what a reader without eyes or a mouse would stumble over. */
const shape = `(() => {
  const all = (selector) => [...document.querySelectorAll(selector)]
  const levels = all('h1,h2,h3,h4').map(({ tagName }) => Number(tagName.slice(1)))
  const targets = all('a').map(({ hash }) => hash.slice(1))
  return {
    width: document.documentElement.scrollWidth,
    nameless: all('table').filter((table) => !table.querySelector('th[scope=col]')).length,
    skipped: levels.filter((level, at) => level > (levels[at - 1] ?? level) + 1),
    dead: targets.filter((id) => id !== '' && document.getElementById(id) === null),
  }
})()`

describe.skipIf(browserPath === undefined)('the reference in a browser (skipped without chromium)', () => {
  beforeAll(async () => {
    for (const [path, htmlAt] of Object.entries(pages)) {
      const html = htmlAt(8080)
      const flat = pageHeaders(html)
      const pairs = flat.flatMap((name, index) => (index % 2 === 0 ? [[name, flat[index + 1]]] : []))
      app.get(path, (_, reply) => reply.headers(Object.fromEntries(pairs)).send(html))
    }
    base = await app.listen({ port: 0, host: '127.0.0.1' })
    browser = await launchBrowser()
  })
  afterAll(async () => {
    await browser?.close()
    await app.close()
  })

  test.each(Object.keys(pages))('%s', async (path) => {
    const page = await browser.newPage()
    const asked: string[] = []
    const complaints: string[] = []
    page.on('request', (request) => asked.push(request.url()))
    page.on('console', (message) => complaints.push(message.text()))
    page.on('pageerror', (error) => complaints.push(String(error)))
    await page.goto(`${base}${path}`)
    expect(asked.filter((url) => !url.startsWith(base))).toEqual([])
    expect(complaints).toEqual([])
    expect(await page.locator('h1').first().textContent()).toContain('Lockstep')
    await page.close()
  })

  test.each(Object.keys(pages))('%s fits a phone, names its columns and leads nowhere else', async (path) => {
    const page = await browser.newPage({ viewport: { width: 320, height: 640 } })
    await page.goto(`${base}${path}`)
    const found = await page.evaluate(shape)
    expect(found).toEqual({ width: 320, nameless: 0, skipped: [], dead: [] })
    await page.close()
  })

  test('the first page has the width of the screen', async () => {
    const page = await browser.newPage({ viewport: { width: 1200, height: 900 } })
    await page.goto(base)
    expect((await page.locator('p').first().boundingBox())?.width).toBeGreaterThan(600)
    await page.close()
  })

  test('an operation is found by its link, with its parameters and a call to paste', async () => {
    const page = await browser.newPage({ viewport: { width: 1200, height: 900 } })
    await page.goto(`${base}/reference/gen`)
    await page.getByRole('link', { name: 'NewStrategyOrder', exact: true }).first().click()
    const section = page.locator('#NewStrategyOrder')
    expect(await section.textContent()).toContain('OrderQuantity')
    expect(await section.textContent()).toContain('curl')
    expect(await section.isVisible()).toBe(true)
    await page.close()
  })
})
