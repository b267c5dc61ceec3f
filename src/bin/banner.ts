/** What `start` prints: where everything is, who can sign in, and three calls to paste. */
import { existsSync, readFileSync } from 'node:fs'
import { hostNames } from '../contract/index.ts'
import type { DemoKey } from '../demo/facts.ts'
import { type Config, demoKeysFile, mailFolder } from './config.ts'
import { addressOf, baseUrlOf, localUrlOf } from './pages.ts'
import { portOf } from './port.ts'

/** Prints the addresses and, where a demo is, its people, keys and calls. */
export function printBanner(config: Config, url: string): void {
  const port = portOf(url)
  console.log(`\nLockstep runs at ${url}`)
  for (const host of hostNames) console.log(`  ${host.padEnd(4)} ${baseUrlOf(config, host, port)}`)
  console.log(`  reference ${url}/reference/gen`)
  console.log(`  mail ${config.smtpUrl === undefined ? mailFolder(config) : 'by SMTP'}`)
  const file = demoKeysFile(config)
  if (!config.demo || !existsSync(file)) return
  const keys = JSON.parse(readFileSync(file, 'utf8')) as DemoKey[]
  console.log(`\nDemo people (keys in ${file}):`)
  for (const { name, role, personId, key } of keys) {
    console.log(`  ${name.padEnd(20)} ${role.padEnd(18)} person ${String(personId).padEnd(4)} ${key}`)
  }
  for (const line of callsToPaste(localUrlOf(addressOf(config, port), 'Gen'), keys)) console.log(line)
}

/** Hello, an order of the developer's strategy, and the investor's mirrored orders. */
function callsToPaste(base: string, keys: readonly DemoKey[]): string[] {
  const developer = keys.find(({ strategyId }) => strategyId !== undefined)
  const investor = keys.find(({ account }) => account !== undefined)
  if (!developer || !investor) return []
  const call = (key: string, method: string, path: string, body?: object): string =>
    [
      `curl -s -X ${method} '${base}${path}'`,
      `-H 'Authorization: Bearer ${key}' -H 'Accept: application/json'`,
      ...(body ? [`-H 'Content-Type: application/json' -d '${JSON.stringify(body)}'`] : []),
    ].join(' ')
  const order = {
    Order: {
      StrategyId: developer.strategyId,
      OrderType: '1',
      Side: '1',
      OrderQuantity: 10,
      TIF: '0',
      PlatformSymbol: { FullSymbol: 'SPX', SymbolType: 'stock' },
    },
  }
  const { personId, account } = investor
  return [
    '\nThree calls to paste:',
    '\n# 1. Does the key work?',
    call(developer.key, 'POST', '/General/Hello', { Name: 'trader' }),
    '\n# 2. An order of the strategy; it fills at the next quote.',
    call(developer.key, 'POST', '/Strategies/NewStrategyOrder', order),
    '\n# 3. What the follower’s account did with it.',
    call(
      investor.key,
      'GET',
      `/Autotrade/GetAutotradeHistoricalOrders?PersonId=${personId}&Account=${account}&Limit=3&AscendingOrder=false`,
    ),
    '',
  ]
}
