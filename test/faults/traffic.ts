/**
 * Traffic for the fault tests: owners who place orders without pause and, like good clients, repeat a call that
 * got no clear answer under its idempotency key. What was answered with 200 is remembered as acknowledged.
 */
import { randomUUID } from 'node:crypto'
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
      await pause(5)
    }
  }
  const loops = owners.map(loop)
  return {
    acknowledged,
    progress: () => new Promise((resolve) => waiting.add(resolve)),
    stop: async () => {
      isStopping = true
      await Promise.all(loops)
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

async function ask(url: string, key: string, body: object, idempotencyKey: string) {
  try {
    const response = await fetch(url, {
      method: 'POST',
      headers: {
        authorization: `Bearer ${key}`,
        accept: 'application/json',
        'content-type': 'application/json',
        'idempotency-key': idempotencyKey,
      },
      body: JSON.stringify(body),
      signal: AbortSignal.timeout(callLimitMs),
    })
    const text = await response.text()
    const parsed = JSON.parse(text) as { Results?: [{ SignalId: number }] }
    return { status: response.status, signalId: parsed.Results?.[0].SignalId ?? 0 }
  } catch {
    return undefined // the process died under the call: its outcome is unknown
  }
}
