import { describe, expect, test } from 'vitest'
import { dec } from '../decimal.ts'
import { externalActivity } from './external-activity.ts'

type Given = {
  ledgers?: number[]
  broker?: number
  executions?: (string | null)[]
  isInFlight?: boolean
  age?: number
  ignore?: boolean
}

const reasonOf = ({
  ledgers = [5, -2],
  broker = 3,
  executions = [],
  isInFlight = false,
  age = 100,
  ignore = false,
}: Given) =>
  externalActivity({
    prefix: 'LSP-',
    ledgers: ledgers.map(dec),
    brokerPosition: dec(broker),
    executions,
    isInFlight,
    mismatchAgeSeconds: age,
    graceSeconds: 60,
    ignoreManualOrders: ignore,
  })

describe('external activity', () => {
  test.each([
    ['all explained', {}, null],
    ['an execution of ours', { executions: ['LSP-1-S1-0'] }, null],
    ['no client order id', { executions: ['LSP-1-S1-0', null] }, 'ExternalExecution'],
    ['an empty client order id', { executions: [''] }, 'ExternalExecution'],
    ['another environment', { executions: ['LST-1-S1-0'] }, 'ExternalExecution'],
    ['the prefix elsewhere in the id', { executions: ['xLSP-1-S1-0'] }, 'ExternalExecution'],
    ['the position differs', { broker: 4 }, 'PositionMismatch'],
    ['a position without ledgers', { ledgers: [] }, 'PositionMismatch'],
    ['it differs for exactly the grace', { broker: 4, age: 60 }, null],
    ['it differs a little longer', { broker: 4, age: 60.5 }, 'PositionMismatch'],
    ['an order is in flight', { broker: 4, isInFlight: true }, null],
    [
      'in flight does not excuse an execution',
      { executions: [null], isInFlight: true, age: 0 },
      'ExternalExecution',
    ],
    ['the execution is named first', { broker: 4, executions: [null] }, 'ExternalExecution'],
    ['the owner trades by hand', { broker: 4, executions: [null], ignore: true }, null],
  ] as [string, Given, string | null][])('%s', (_name, given, reason) => {
    expect(reasonOf(given)).toBe(reason)
  })
})
