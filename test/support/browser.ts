/** A real browser for the tests of pages; where the machine has none, those tests are skipped and say why. */
import { existsSync } from 'node:fs'
import { type Browser, chromium } from 'playwright-core'

const places = ['/usr/bin/chromium', '/usr/bin/chromium-browser', '/usr/bin/google-chrome']

/** The browser's program, if the machine has one. */
export const browserPath: string | undefined = places.find((path) => existsSync(path))

/** Starts it without any traffic of its own. */
export const launchBrowser = (): Promise<Browser> =>
  chromium.launch({
    executablePath: browserPath ?? '',
    args: [
      '--no-sandbox',
      '--disable-gpu',
      '--disable-quic',
      '--no-first-run',
      '--disable-background-networking',
      '--disable-component-update',
      '--disable-sync',
    ],
  })
