import { describe, expect, test } from 'vitest'
import { ApiError, createClient } from './index.ts'

interface Sent {
  url: string
  method: string
  headers: Record<string, string>
  body: string | undefined
}

/** A client whose fetch notes what is sent and answers from a list of texts. */
function clientOf(answers: readonly (string | Response)[], host: 'Gen' | 'WL' = 'Gen') {
  const sent: Sent[] = []
  const client = createClient({
    baseUrl: 'http://localhost:8080/gen',
    key: 'the-key',
    host,
    fetch: (url, init) => {
      const answer = answers[sent.length] ?? '{"Results":[],"ResponseStatus":{"ErrorCode":"200"}}'
      sent.push({
        url: String(url),
        method: init?.method ?? '',
        headers: init?.headers as Record<string, string>,
        body: init?.body as string | undefined,
      })
      return Promise.resolve(typeof answer === 'string' ? new Response(answer) : answer)
    },
  })
  return { client, sent }
}

describe('the client', () => {
  test('sends the parameters of a read in the query', async () => {
    const { client, sent } = clientOf([])
    await client.GetStrategyActiveOrders({
      StrategyIds: [1, 2n ** 60n],
      OrderType: '2',
      SecurityType: undefined,
    })
    expect(sent).toEqual([
      {
        url: 'http://localhost:8080/gen/Strategies/GetStrategyActiveOrders?StrategyIds=1&StrategyIds=1152921504606846976&OrderType=2',
        method: 'GET',
        headers: { Authorization: 'Bearer the-key', Accept: 'application/json' },
        body: undefined,
      },
    ])
  })

  test('sends a write as JSON, with its idempotency key and exact integers', async () => {
    const { client, sent } = clientOf(['{"Results":[{"SignalId":5}],"ResponseStatus":{"ErrorCode":"200"}}'])
    const page = await client.NewStrategyOrder(
      {
        Order: {
          StrategyId: 2n ** 60n,
          OrderType: '1',
          Side: '1',
          OrderQuantity: 1.5,
          TIF: '0',
          PlatformSymbol: { FullSymbol: 'AAPL', SymbolType: 'stock' },
        },
      },
      { idempotencyKey: 'k1' },
    )
    expect(page.results[0]?.SignalId).toBe(5)
    expect(sent[0]?.body).toBe(
      '{"Order":{"StrategyId":1152921504606846976,"OrderType":"1","Side":"1","OrderQuantity":1.5,"TIF":"0","PlatformSymbol":{"FullSymbol":"AAPL","SymbolType":"stock"}}}',
    )
    expect(sent[0]?.headers).toMatchObject({ 'Content-Type': 'application/json', 'Idempotency-Key': 'k1' })
  })

  test('walks all pages with the cursor as it is to be sent', async () => {
    const { client, sent } = clientOf([
      '{"Results":[{"Id":1}],"Pagination":{"next_cursor":"a%2Bb%3D"},"ResponseStatus":{"ErrorCode":"200"}}',
      '{"Results":[],"Pagination":{"next_cursor":"c"},"ResponseStatus":{"ErrorCode":"200"}}',
      '{"Results":[{"Id":2}],"Pagination":{"next_cursor":"","prev_cursor":"p"},"ResponseStatus":{"ErrorCode":"200"}}',
    ])
    const ids: number[] = []
    for await (const row of client.rowsOf('GetAutotradedStrategies', { PersonId: 7 })) ids.push(row.Id)
    expect(ids).toEqual([1, 2])
    expect(sent.map(({ url }) => new URL(url).searchParams.get('Cursor'))).toEqual([null, 'a+b=', 'c'])
  })

  test('answers a bare boolean as a boolean', async () => {
    const { client } = clientOf(['true'])
    expect(await client.StopAutotrade({ Account: 'A', PersonId: 1, StrategyId: 2 })).toBe(true)
  })

  test('shows the headers of an answer: an approval has its number there', async () => {
    const { client } = clientOf([new Response('true', { headers: { 'x-approval-request-id': '12' } })], 'WL')
    const seen: (string | null)[] = []
    const onHeaders = (headers: Headers) => seen.push(headers.get('X-Approval-Request-Id'))
    await client.StartAutotrade({ Account: 'A', StrategyId: 1, StocksEnabled: true }, { onHeaders })
    expect(seen).toEqual(['12'])
  })

  test('says so where the host does not offer an operation', async () => {
    const { client, sent } = clientOf([], 'WL')
    await expect(client.SyncPositionsToOpen({ StrategyId: 1 } as never)).rejects.toThrow('does not offer')
    expect(sent).toEqual([])
  })

  test('takes the path of the host', async () => {
    for (const [host, path] of [
      ['Gen', '/Strategies/SetDesiredPositions'],
      ['WL', '/v2/Strategies/SetDesiredPositions'],
    ] as const) {
      const { client, sent } = clientOf([], host)
      await client.SetDesiredPositions({ StrategyId: 1, Positions: [] })
      expect(sent[0]?.url).toBe(`http://localhost:8080/gen${path}`)
    }
  })

  test('throws what the platform refuses', async () => {
    const refusal = new Response(
      '{"ResponseStatus":{"ErrorCode":"429","Message":"TooManyRequests","Errors":[{"ErrorCode":"3005","FieldName":"","Message":"Too many requests"}]}}',
      { status: 429, headers: { 'retry-after': '3', 'x-request-id': 'r1' } },
    )
    const { client } = clientOf([refusal])
    const error = await client.GetBrokers({}).catch((caught: unknown) => caught)
    expect(error).toBeInstanceOf(ApiError)
    expect(error).toMatchObject({
      status: 429,
      retryAfterSeconds: 3,
      requestId: 'r1',
      errors: [{ ErrorCode: '3005' }],
    })
  })

  test('throws on an answer that is none of the platform', async () => {
    const { client } = clientOf([new Response('<html>', { status: 503 })])
    await expect(client.GetBrokers({})).rejects.toMatchObject({ status: 503, errors: [] })
  })

  test('knows no wait where a proxy names a date', async () => {
    const headers = { 'retry-after': 'Thu, 26 Nov 2026 05:00:00 GMT' }
    const { client } = clientOf([new Response('', { status: 503, headers })])
    await expect(client.GetBrokers({})).rejects.toMatchObject({ status: 503, retryAfterSeconds: undefined })
  })

  test.each([Number.NaN, Number.POSITIVE_INFINITY])('sends nothing instead of %s', async (limit) => {
    const { client, sent } = clientOf(['true'])
    const setup = { Account: 'A', StrategyId: 1, StocksEnabled: true, MaxStocksDollars: limit }
    await expect(client.StartAutotrade(setup)).rejects.toThrow(RangeError)
    expect(sent).toEqual([])
  })

  test('refuses an integer it cannot hold', async () => {
    const { client } = clientOf([
      '{"Results":[{"StrategyId":9223372036854775807}],"ResponseStatus":{"ErrorCode":"200"}}',
    ])
    await expect(client.AddStrategy({ StrategyName: 'S', StartingCapital: 1 })).rejects.toThrow(RangeError)
  })

  test('knows parameters and results by type', async () => {
    const { client } = clientOf([])
    // @ts-expect-error a misspelt parameter
    await client.GetBrokers({ IncludeDisable: true })
    // @ts-expect-error a missing mandatory parameter
    await client.GetStrategyDetails({})
    const { results } = await client.GetBrokers({})
    const name: string | undefined = results[0]?.Name
    expect(name).toBeUndefined()
  })
})
