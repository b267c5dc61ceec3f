import { expect, test } from 'vitest'
import { exposed } from './metrics.ts'
import { countRequest, newRequestCounts, requestFamilies } from './request-counts.ts'

test('what is told is told in the text format', () => {
  const text = exposed([
    { name: 'a_total', type: 'counter', help: 'One.', samples: [{ value: 3 }] },
    { name: 'nothing', type: 'gauge', help: 'Left out.', samples: [] },
    {
      name: 'b',
      type: 'gauge',
      help: 'Two.',
      samples: [{ labels: { kind: 'x"\\\n', of: 'y' }, value: 0.5 }, { value: Number.POSITIVE_INFINITY }],
    },
  ])
  expect(text).toBe(`# HELP lockstep_a_total One.
# TYPE lockstep_a_total counter
lockstep_a_total 3
# HELP lockstep_b Two.
# TYPE lockstep_b gauge
lockstep_b{kind="x\\"\\\\\\n",of="y"} 0.5
lockstep_b +Inf
`)
})

test('a request counts under its status and up to every bound that it did not exceed', () => {
  const counts = newRequestCounts()
  for (const ms of [1, 1.1, 10_000, 10_001]) countRequest(counts, 'Hello', 200, ms)
  countRequest(counts, 'Hello', 503, 0)
  const lines = exposed(requestFamilies(counts)).split('\n')
  const bucket = (le: string, count: number) =>
    `lockstep_request_seconds_bucket{operation="Hello",le="${le}"} ${count}`
  expect(lines).toEqual(
    expect.arrayContaining([
      ...['200"} 4', '503"} 1'].map((end) => `lockstep_requests_total{operation="Hello",status="${end}`),
      ...[bucket('0.001', 2), bucket('0.0025', 3), bucket('5', 3), bucket('10', 4), bucket('+Inf', 5)],
      'lockstep_request_seconds_sum{operation="Hello"} 20.0031',
      'lockstep_request_seconds_count{operation="Hello"} 5',
      'lockstep_requests_limited_total{by="key"} 0',
    ]),
  )
})
