/**
 * Over HTTP at 64 connections: one live order read, the same one by all or 64 in turn, and one order placed durably,
 * against servers that do the protocol and nothing else, and one that also writes the rows of an order. Server, database
 * and load generator share the machine, each in its own process.
 */
import type autocannon from 'autocannon'
import { orderOf, type Platform, startPlatform } from './support/platform.ts'
import { type Bench, type Figure, interleaved, median, ratioOf } from './support/report.ts'
import { load, type Served, serve, type Target } from './support/served.ts'

const connections = 64
const roundSeconds = 3
const rounds = 7
/** A server that runs for days is measured, not one whose code is compiled meanwhile: that takes some 10 s of load. */
const warmUpRounds = 3

async function run() {
  const platform = await startPlatform(2 * connections)
  const headers = {
    authorization: `Bearer ${platform.key}`,
    accept: 'application/json',
    'content-type': 'application/json',
  }
  const api = await serve('api-server.ts', [platform.url])
  const read = platform.strategyIds.slice(0, connections).map(readOf)
  const sample = await oneOrderEach(platform, api, headers)
  const bare = await serve('bare-server.ts', [platform.key, sample])
  const keeping = await serve('bare-server.ts', [platform.key, sample, platform.url])
  const p99 = new Map<string, number[]>()
  const method = (name: string, target: Target) => ({
    name,
    unit: 'requests/s',
    measure: async () => {
      const measured = await load(target, connections, roundSeconds)
      p99.set(name, [...(p99.get(name) ?? []), measured.p99])
      return measured.rate
    },
  })
  const post = (url: string): Target => ({ url, method: 'POST', headers, requests: bodies(platform) })
  // Reads first, and what others write last: what thousands of orders leave to do (vacuum, checkpoints) goes on beside
  // whatever is measured next.
  const reads = [
    method('GET bare', { url: bare.url, headers }),
    method('GET product, one live order', { url: `${api.url}${read[0]}`, headers }),
    method('GET product, 64 orders in turn', {
      url: api.url,
      headers,
      requests: read.map((path) => ({ path })),
    }),
  ]
  const writes = [
    method('POST bare, validated', post(bare.url)),
    method('POST product, placed durably', post(`${api.url}/gen/Strategies/NewStrategyOrder`)),
  ]
  const kept = [method('POST bare, validated, its rows written', post(keeping.url))]
  const figures: Figure[] = []
  for (const methods of [reads, writes, kept])
    figures.push(...(await interleaved(methods, rounds, warmUpRounds)))
  api.stop()
  bare.stop()
  keeping.stop()
  await platform.close()
  const latencies = [...p99].map(([name, measured]) => {
    const counted = measured.slice(warmUpRounds)
    return { name: `${name}, p99`, unit: 'ms', value: median(counted), rounds: counted }
  })
  const all = [...figures, ...latencies]
  return {
    figures: all,
    ratios: [
      ratioOf(all, 'GET product, one live order', 'GET bare', { atLeast: 0.5 }),
      ratioOf(all, 'GET product, 64 orders in turn', 'GET bare'),
      ratioOf(all, 'POST product, placed durably', 'POST bare, validated', { atLeast: 0.3 }),
      ratioOf(all, 'POST product, placed durably, p99', 'POST bare, validated, p99', { atMost: 3 }),
      // What keeping these rows costs anybody, and what the product adds to it.
      ratioOf(all, 'POST bare, validated, its rows written', 'POST bare, validated'),
      ratioOf(all, 'POST product, placed durably', 'POST bare, validated, its rows written'),
    ],
  }
}

/** Each connection places on the strategies in turn; those that are read stay with their one order. */
const bodies = (platform: Platform): autocannon.Request[] =>
  platform.strategyIds.slice(connections).map((id) => ({ body: JSON.stringify(orderOf(id)) }))

const readOf = (strategyId = 0): string => `/gen/Strategies/GetStrategyActiveOrders?StrategyIds=${strategyId}`

/** Places the orders that the reads find, one to a strategy; answers the first listing's text. */
async function oneOrderEach(
  { strategyIds }: Platform,
  api: Served,
  headers: Record<string, string>,
): Promise<string> {
  for (const id of strategyIds.slice(0, connections)) {
    const body = JSON.stringify(orderOf(id))
    await fetch(`${api.url}/gen/Strategies/NewStrategyOrder`, { method: 'POST', headers, body })
  }
  return (await fetch(`${api.url}${readOf(strategyIds[0])}`, { headers })).text()
}

export const bench: Bench = { name: 'http', run }
