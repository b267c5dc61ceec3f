/** What the edge counts of its requests: plain numbers, raised as answers are sent and read when somebody looks. */
import type { Family, Sample } from './metrics.ts'

/** Of one operation. */
interface RequestCount {
  readonly statuses: Record<number, number>
  /** Answers by the first bound that they did not exceed, the last place for all that are slower. */
  readonly buckets: number[]
  totalMs: number
}

export interface RequestCounts {
  readonly operations: Map<string, RequestCount>
  /** Requests refused by a limit: of the address, of its wrong keys, of the key. */
  readonly limited: { address: number; wrongKeys: number; key: number }
}

const boundsMs = [1, 2.5, 5, 10, 25, 50, 100, 250, 500, 1_000, 2_500, 5_000, 10_000]

/** Counts from nothing. */
export const newRequestCounts = (): RequestCounts => ({
  operations: new Map(),
  limited: { address: 0, wrongKeys: 0, key: 0 },
})

/** Counts an answer: of an operation, of a `page`, or of `none`. */
export function countRequest(counts: RequestCounts, operation: string, status: number, ms: number): void {
  let count = counts.operations.get(operation)
  if (count === undefined) {
    count = { statuses: {}, buckets: Array<number>(boundsMs.length + 1).fill(0), totalMs: 0 }
    counts.operations.set(operation, count)
  }
  count.statuses[status] = (count.statuses[status] ?? 0) + 1
  count.totalMs += ms
  let place = 0
  while (ms > (boundsMs[place] ?? Number.POSITIVE_INFINITY)) place++
  count.buckets[place] = (count.buckets[place] ?? 0) + 1
}

/** The counts as metrics. */
export const requestFamilies = ({ operations, limited }: RequestCounts): Family[] => [
  {
    name: 'requests_total',
    type: 'counter',
    help: 'Requests answered, by operation and status.',
    samples: [...operations].flatMap(([operation, { statuses }]) =>
      Object.entries(statuses).map(([status, value]) => ({ labels: { operation, status }, value })),
    ),
  },
  {
    name: 'request_seconds',
    type: 'histogram',
    help: 'From the head of a request to its answer, by operation.',
    samples: [...operations].flatMap(([operation, count]) => histogram(operation, count)),
  },
  {
    name: 'requests_limited_total',
    type: 'counter',
    help: 'Requests refused by a rate limit, by what was limited.',
    samples: Object.entries(limited).map(([by, value]) => ({ labels: { by }, value })),
  },
]

function histogram(operation: string, { buckets, totalMs }: RequestCount): Sample[] {
  let value = 0
  const cumulative = [...boundsMs, Number.POSITIVE_INFINITY].map((bound, place): Sample => {
    value += buckets[place] ?? 0
    const le = bound === Number.POSITIVE_INFINITY ? '+Inf' : String(bound / 1000)
    return { suffix: '_bucket', labels: { operation, le }, value }
  })
  return [
    ...cumulative,
    { suffix: '_sum', labels: { operation }, value: totalMs / 1000 },
    { suffix: '_count', labels: { operation }, value },
  ]
}
