/**
 * Traffic for the fault tests: owners who place orders without pause and, like good clients, repeat a call that
 * got no clear answer under its idempotency key. What was answered with 200 is remembered as acknowledged.
 */
import { randomUUID } from 'node:crypto'
import { request } from 'node:http'
import { setTimeout as pause } from 'node:timers/promises'

export interface Owner {
  key: string
  strategyId: number
}

export interface Traffic {
  /** Signal ids that were acknowledged, by idempotency key. */
  acknowledged: Map<string, number>
  /** Resolves when some order placed after the call was acknowledged. */
  progress(): Promise<void>
  stop(): Promise<void>
}

const retryMs = 25
const callLimitMs = 10_000

/** Starts one loop per owner: buy and sell in turn, one unit, at market. */
export function startTraffic(base: string, owners: readonly Owner[], symbol: string): Traffic {
  const acknowledged = new Map<string, number>()
  const waiting = new Set<() => void>()
  let isStopping = false

  const loop = async (owner: Owner): Promise<void> => {
    for (let turn = 0; !isStopping; turn++) {
      const idempotencyKey = randomUUID()
      acknowledged.set(
        idempotencyKey,
        await placed(base, owner, symbol, turn % 2 === 0 ? '1' : '2', idempotencyKey),
      )
      for (const heard of waiting) heard()
      waiting.clear()
      await pause(200)
    }
  }
  const loops = Promise.all(owners.map(loop))
  return {
    acknowledged,
    // An owner who got an answer that nobody expected ends the test, not its patience.
    progress: () =>
      Promise.race([new Promise<void>((resolve) => waiting.add(resolve)), loops.then(() => {})]),
    stop: async () => {
      isStopping = true
      await loops
    },
  }
}

/** Repeats the call until it is answered for certain. Throws on an answer that is neither success nor "later". */
async function placed(
  base: string,
  owner: Owner,
  symbol: string,
  side: '1' | '2',
  idempotencyKey: string,
): Promise<number> {
  const order = {
    StrategyId: owner.strategyId,
    OrderType: '1',
    Side: side,
    OrderQuantity: 10,
    TIF: '1',
    OpenClose: side === '1' ? 'O' : undefined,
    PlatformSymbol: { FullSymbol: symbol, SymbolType: 'stock' },
  }
  for (;;) {
    const answer = await ask(
      `${base}/Strategies/NewStrategyOrder`,
      owner.key,
      { Order: order },
      idempotencyKey,
    )
    if (answer?.status === 200) return answer.signalId
    if (answer && answer.status !== 503 && answer.status !== 409)
      throw new Error(`an order got ${answer.status}`)
    await pause(retryMs)
  }
}

/** Callers come from many loopback addresses, as they would from many machines: each has windows of its own. */
let called = 0
const nextAddress = (): string => `127.0.0.${2 + (called++ % 250)}`

/** Status and signal id; undefined when the process died under the call, whose outcome is then unknown. */
function ask(url: string, key: string, body: object, idempotencyKey: string): Promise<Answer | undefined> {
  const headers = {
    authorization: `Bearer ${key}`,
    accept: 'application/json',
    'content-type': 'application/json',
    'idempotency-key': idempotencyKey,
  }
  return new Promise((resolve) => {
    const options = {
      method: 'POST',
      headers,
      localAddress: nextAddress(),
      agent: false,
      timeout: callLimitMs,
    }
    const sent = request(url, options, (response) => {
      const chunks: Buffer[] = []
      response.on('data', (chunk: Buffer) => chunks.push(chunk))
      response.on('error', () => resolve(undefined))
      response.on('end', () => resolve(answerOf(response.statusCode ?? 0, Buffer.concat(chunks).toString())))
    })
    sent.on('timeout', () => sent.destroy())
    sent.on('error', () => resolve(undefined))
    sent.end(JSON.stringify(body))
  })
}

interface Answer {
  status: number
  signalId: number
}

function answerOf(status: number, text: string): Answer | undefined {
  try {
    const parsed = JSON.parse(text) as { Results?: [{ SignalId: number }] }
    return { status, signalId: parsed.Results?.[0].SignalId ?? 0 }
  } catch {
    return undefined
  }
}
