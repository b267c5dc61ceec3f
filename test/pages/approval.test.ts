/** The page of a request in a real browser: read, approved and declined by hand, without a script or a stranger. */
import type { Browser, Page } from 'playwright-core'
import { afterAll, beforeAll, describe, expect, test } from 'vitest'
import { buildTown } from '../operations/support/town.ts'
import { browserPath, launchBrowser } from '../support/browser.ts'
import { resultsOf } from '../support/http.ts'

describe.skipIf(browserPath === undefined)(
  'the approval page in a browser (skipped without chromium)',
  async () => {
    const town = await buildTown()
    const { neighbour, owner } = town.people
    const key = neighbour.key
    let browser: Browser
    beforeAll(async () => {
      browser = await launchBrowser()
    })
    afterAll(() => browser?.close())

    const nasty = '<img src=x onerror=alert(1)> & "friends"'
    const requestFor = async (account: string): Promise<{ id: string; url: string }> => {
      await town.door('/accounts', [{ account, personId: neighbour.personId, cash: 1000 }])
      const added = await town.ask(
        'AddStrategy',
        { StrategyName: nasty, StartingCapital: 1 },
        { key: owner.key },
      )
      const [{ StrategyId } = { StrategyId: 0 }] = resultsOf<{ StrategyId: number }>(added)
      const wish = {
        Account: account,
        PersonId: neighbour.personId,
        StrategyId,
        FuturesEnabled: true,
        MaxFutures: 3,
      }
      const asked = await town.ask('StartAutotrade', wish, { key, host: 'WL' })
      const id = String(asked.headers['x-approval-request-id'])
      const status = await town.ask('GetAutotradeApprovalStatus', { RequestId: id }, { key, host: 'WL' })
      const [{ ApprovalUrl } = { ApprovalUrl: '' }] = resultsOf<{ ApprovalUrl: string }>(status)
      return { id, url: ApprovalUrl }
    }
    const statusOf = async (id: string) => {
      const status = await town.ask('GetAutotradeApprovalStatus', { RequestId: id }, { key, host: 'WL' })
      return resultsOf<{ Status: string }>(status)[0]?.Status
    }
    const open = async (url: string): Promise<{ page: Page; complaints: () => string[] }> => {
      const page = await browser.newPage()
      const complaints: string[] = []
      page.on('request', (request) => {
        if (!request.url().startsWith(town.platform.url)) complaints.push(request.url())
      })
      page.on('console', (message) => complaints.push(message.text()))
      page.on('pageerror', (error) => complaints.push(String(error)))
      page.on('dialog', (dialog) => complaints.push(dialog.message()))
      await page.goto(url)
      return { page, complaints: () => complaints }
    }

    test('the customer reads what is asked and approves', async () => {
      const { id, url } = await requestFor('B1')
      const { page, complaints } = await open(url)
      expect(await page.locator('h1').textContent()).toBe(`Approve ${nasty}?`)
      expect(await page.locator('dl').textContent()).toContain('at most 3 contracts')
      expect(await page.locator('dl').textContent()).toContain('B1 at Scripted')
      await page.getByRole('button', { name: 'Approve' }).click()
      await page.waitForSelector('h1:text("Approved")')
      expect(await page.getByRole('button').count()).toBe(0)
      expect([await statusOf(id), complaints()]).toEqual(['Completed', []])
      await page.reload()
      expect(await page.locator('h1').textContent()).toBe('Approved')
      await page.close()
    })

    test('the customer declines by keyboard', async () => {
      const { id, url } = await requestFor('B2')
      const { page } = await open(url)
      await page.keyboard.press('Tab')
      await page.keyboard.press('Tab')
      await page.keyboard.press('Enter')
      await page.waitForSelector('h1:text("Nothing was switched on")')
      expect(await statusOf(id)).toBe('Failed')
      await page.close()
    })
  },
)
