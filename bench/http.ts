/**
 * Over HTTP at 64 connections: one live order read, one order placed durably, against servers that do the
 * protocol and nothing else. Server, database and load generator share the machine, each in its own process.
 */
import type autocannon from 'autocannon'
import { orderOf, type Platform, startPlatform } from './support/platform.ts'
import { type Bench, interleaved, median, ratioOf } from './support/report.ts'
import { load, type Served, serve, type Target } from './support/served.ts'

const connections = 64
const roundSeconds = 3
const rounds = 5

async function run() {
  const platform = await startPlatform(connections)
  const headers = {
    authorization: `Bearer ${platform.key}`,
    accept: 'application/json',
    'content-type': 'application/json',
  }
  const api = await serve('api-server.ts', [platform.url])
  const read: Target = { url: `${api.url}/gen/Strategies/GetStrategyActiveOrders?StrategyIds=1`, headers }
  const sample = await oneOrder(platform, api, headers)
  const bare = await serve('bare-server.ts', [platform.key, sample])
  const p99 = new Map<string, number[]>()
  const method = (name: string, target: Target) => ({
    name,
    unit: 'requests/s',
    measure: async () => {
      const { requests, latency } = await load(target, connections, roundSeconds)
      p99.set(name, [...(p99.get(name) ?? []), latency.p99])
      return requests.average
    },
  })
  const post = (url: string): Target => ({ url, method: 'POST', headers, requests: bodies(platform) })
  const figures = await interleaved(
    [
      method('GET bare', { url: bare.url, headers }),
      method('GET product, one live order', read),
      method('POST bare, validated', post(bare.url)),
      method('POST product, placed durably', post(`${api.url}/gen/Strategies/NewStrategyOrder`)),
    ],
    rounds,
  )
  api.stop()
  bare.stop()
  await platform.close()
  const latencies = [...p99].map(([name, rounds]) => ({
    name: `${name}, p99`,
    unit: 'ms',
    value: median(rounds),
    rounds,
  }))
  const all = [...figures, ...latencies]
  return {
    figures: all,
    ratios: [
      ratioOf(all, 'GET product, one live order', 'GET bare', { atLeast: 0.5 }),
      ratioOf(all, 'POST product, placed durably', 'POST bare, validated', { atLeast: 0.3 }),
      ratioOf(all, 'POST product, placed durably, p99', 'POST bare, validated, p99', { atMost: 3 }),
    ],
  }
}

/** Each connection places on the strategies in turn; the first strategy stays with its one order. */
const bodies = (platform: Platform): autocannon.Request[] =>
  platform.strategyIds.slice(1).map((id) => ({ body: JSON.stringify(orderOf(id)) }))

/** Places the one order that the reads find; answers the listing's text. */
async function oneOrder(
  { strategyIds }: Platform,
  api: Served,
  headers: Record<string, string>,
): Promise<string> {
  const base = `${api.url}/gen/Strategies`
  const body = JSON.stringify(orderOf(strategyIds[0] ?? 1))
  await fetch(`${base}/NewStrategyOrder`, { method: 'POST', headers, body })
  return (await fetch(`${base}/GetStrategyActiveOrders?StrategyIds=1`, { headers })).text()
}

export const bench: Bench = { name: 'http', run }
