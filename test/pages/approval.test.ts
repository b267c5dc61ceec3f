/** The page of a request in a real browser: read, approved and declined by hand, without a script or a stranger. */
import type { Browser, Page } from 'playwright-core'
import { afterAll, beforeAll, describe, expect, test } from 'vitest'
import { changeCatalogEntry } from '../../src/storage/billing/catalog.ts'
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
    const addStrategy = async (StrategyName: string): Promise<number> => {
      const added = await town.ask('AddStrategy', { StrategyName, StartingCapital: 1 }, { key: owner.key })
      return resultsOf<{ StrategyId: number }>(added)[0]?.StrategyId ?? 0
    }
    const opened = new Set<string>()
    const requestFor = async (
      account: string,
      {
        strategyId,
        kind = 'live',
        ...more
      }: { strategyId?: number; kind?: string; [choice: string]: unknown } = {},
    ): Promise<{ id: string; url: string }> => {
      if (!opened.has(account))
        await town.door('/accounts', [{ account, personId: neighbour.personId, cash: 1000, kind }])
      opened.add(account)
      const StrategyId = strategyId ?? (await addStrategy(nasty))
      const wish = {
        FuturesEnabled: true,
        MaxFutures: 3,
        ...more,
        Account: account,
        PersonId: neighbour.personId,
        StrategyId,
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

    test('it says what a yes costs, what ends a loss, and that paper is no money', async () => {
      const strategyId = await addStrategy('Priced')
      await town.door('/strategies', [{ strategyId, monthlyCost: 49, resellable: true }])
      const sold = { Action: 'Add', StrategyIds: [strategyId] }
      await town.ask('UpdateSiteCatalog', sold, { key: town.people.westAdmin.key, host: 'WL' })
      const entry = { name: 'West Growth', markup: '5' }
      await town.platform.db.transaction((tx) => changeCatalogEntry(tx, town.sites.west, strategyId, entry))
      await town.platform.db.write
        .run`update strategy set performance_fee_percent = 20 where id = ${strategyId}`

      const { url } = await requestFor('B3', { strategyId, AutoStopLoss: 1500 })
      const { page } = await open(url)
      expect(await page.locator('h1').textContent()).toBe('Approve West Growth?')
      const read = async () => (await page.locator('main').textContent())?.replaceAll('\n', ' ')
      expect(await read()).toContain('Price54.00 USD now and every 30 days, until the subscription is ended')
      expect(await read()).toContain('Fee on gains20 % of what the account gains')
      expect(await read()).toContain('Stop lossat a loss of 1,500 USD in one position')
      expect(await read()).toContain('Real orders follow')
      await page.getByRole('button', { name: 'Approve' }).click()
      await page.waitForSelector('h1:text("Approved")')
      expect(await read()).not.toContain('Price')

      // Who pays already is charged nothing; paper is called paper.
      await page.goto((await requestFor('B4', { strategyId, kind: 'paper' })).url)
      expect(await read()).not.toContain('Price')
      expect(await read()).toContain('a paper account')
      expect(await read()).toContain('Orders without real money follow')
      await page.close()
    })

    test('where a yes keeps a subscription that was to end it says what that costs, and from when', async () => {
      const strategyId = await addStrategy('Kept')
      await town.door('/strategies', [{ strategyId, monthlyCost: 49 }])
      const page = await browser.newPage()
      const read = async (account: string) => {
        await page.goto((await requestFor(account, { strategyId })).url)
        return page.locator('dt:text("Price") + dd').allTextContents()
      }
      const approve = async () => {
        await page.getByRole('button', { name: 'Approve' }).click()
        await page.waitForSelector('h1:text("Approved")')
      }
      const setup = { Account: 'B9', PersonId: neighbour.personId, StrategyId: strategyId }
      const stop = (TerminateStrategySubscription: boolean) =>
        town.ask('StopAutotrade', { ...setup, TerminateStrategySubscription }, { key })
      const { db } = town.platform
      const cancel = () =>
        db.write.run`update subscription set is_cancel_pending = true where strategy_id = ${strategyId}`

      expect(await read('B9')).toEqual(['49.00 USD now and every 30 days, until the subscription is ended'])
      await approve()
      await stop(false)
      expect(await read('B9')).toEqual([])
      await approve()
      await stop(true)
      const kept = ['49.00 USD every 30 days from 2024-04-11 14:00 UTC on, until the subscription is ended']
      expect(await read('B9')).toEqual(kept)
      await approve()

      // Another account keeps it likewise; a change of what follows already does not.
      await cancel()
      expect(await read('B9')).toEqual([])
      expect(await read('B10')).toEqual(kept)
      await page.close()
    })

    test('where no class is enabled it promises no orders', async () => {
      const { id, url } = await requestFor('B8', { FuturesEnabled: false })
      const { page } = await open(url)
      const read = async () => (await page.locator('p').allTextContents()).join(' ').replaceAll('\n', ' ')
      const off =
        'are all switched off: no position is opened in the account until one of them is switched on.'
      expect(await read()).toContain(`${off} Approving alone copies nothing.`)
      expect(await read()).not.toContain('Real orders follow')
      await page.getByRole('button', { name: 'Approve' }).click()
      await page.waitForSelector('h1:text("Approved")')
      expect(await read()).toContain(off)
      expect(await read()).not.toContain('from now on')
      expect(await statusOf(id)).toBe('Completed')
      await page.close()
    })

    test('a yes to another price is asked for once more', async () => {
      const strategyId = await addStrategy('Dearer')
      const { id, url } = await requestFor('B7', { strategyId })
      const { page } = await open(url)
      await town.door('/strategies', [{ strategyId, monthlyCost: 99 }])
      await page.getByRole('button', { name: 'Approve' }).click()
      await page.getByRole('alert').waitFor()
      expect(await page.locator('dl').textContent()).toContain('99.00 USD')
      expect(await statusOf(id)).toBe('PendingCustomer')
      await page.getByRole('button', { name: 'Approve' }).click()
      await page.waitForSelector('h1:text("Approved")')
      expect(await statusOf(id)).toBe('Completed')
      await page.close()
    })

    test('it fits a phone, whatever things are called', async () => {
      const strategyId = await addStrategy('W'.repeat(60))
      const { url } = await requestFor('B5-'.repeat(9), { strategyId, DoNotJoinCurrentSystemPositions: true })
      const page = await browser.newPage({ viewport: { width: 320, height: 640 } })
      await page.goto(url)
      expect(await page.evaluate('document.documentElement.scrollWidth')).toBe(320)
      for (const fact of await page.locator('dd').all())
        expect((await fact.boundingBox())?.width).toBeGreaterThan(200)
      await page.close()
    })

    test('a name from right to left turns nothing around it', async () => {
      const strategyId = await addStrategy('\u202eevil\u202d')
      const { page } = await open((await requestFor('B6', { strategyId })).url)
      expect(await page.locator('h1 bdi').textContent()).toBe('\u202eevil\u202d')
      expect(await page.locator('dd bdi').count()).toBe(3)
      await page.close()
    })

    test('nor does one that ends the isolation in which it stands, or opens one without an end', async () => {
      for (const [account, name] of [
        ['B11', '\u2069\u202eevil'],
        ['B12', '\u202e\u2067evil'],
      ] as const) {
        const { page } = await open((await requestFor(account, { strategyId: await addStrategy(name) })).url)
        const places = await page.evaluate(`(() => {
          const [approve, name, mark] = document.querySelector('h1').childNodes
          const range = document.createRange()
          const leftOf = (node) => (range.selectNodeContents(node), range.getBoundingClientRect().left)
          return [approve, name, mark].map(leftOf)
        })()`)
        expect(places).toEqual([...(places as number[])].sort((one, other) => one - other))
        await page.close()
      }
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
