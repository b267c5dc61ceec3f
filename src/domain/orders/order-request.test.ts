/** What a cancel and a replace answer in every status, and that the answer is what the event then does. */
import { describe, expect, test } from 'vitest'
import type { OrdStatus } from '../codes.ts'
import { dec } from '../decimal.ts'
import type { ChainOrder } from './order-chain.ts'
import { answerRequest } from './order-request.ts'
import { newOrder } from './order-state.ts'

const inStatus = (state: string): ChainOrder<string>[] => {
  const status = state.slice(0, 1) as OrdStatus
  const order = { ...newOrder(dec(100), state === 'A held'), id: 'X', status, acknowledged: status !== 'A' }
  return status === 'E' ? [order, { ...newOrder(dec(150), false), id: 'Y', replaces: 'X' }] : [order]
}

// Status; answer and status after a cancel; answer and status after a replace.
const answers = `
A held | changed 4 | changed 5
A      | changed 6 | notAcknowledged
0      | changed 6 | changed E
1      | changed 6 | changed E
6      | same 6    | requestPending
E      | changed 6 | requestPending
4      | same 4    | finished
2      | finished  | finished
5      | finished  | finished
8      | finished  | finished
C      | finished  | finished
`
  .trim()
  .split('\n')
  .map((line) => line.split('|').map((text) => text.trim()) as [string, string, string])

const shown = (state: string, request: 'cancel' | 'replace'): string => {
  const answer = answerRequest(inStatus(state), 'X', request)
  return answer.accepted ? `${answer.changed ? 'changed' : 'same'} ${answer.status}` : answer.refusal
}

describe('requests of the owner', () => {
  test.each(answers)('%s: a cancel answers %s, a replace %s', (state, cancel, replace) => {
    expect([shown(state, 'cancel'), shown(state, 'replace')]).toEqual([cancel, replace])
  })

  test('a cancel of a waiting replacement is accepted for the order it replaces', () => {
    expect(answerRequest(inStatus('E'), 'Y', 'cancel')).toEqual({
      accepted: true,
      changed: true,
      status: 'A',
    })
    expect(answerRequest(inStatus('E'), 'Y', 'replace')).toEqual({
      accepted: false,
      refusal: 'notAcknowledged',
    })
  })

  test('an order that is not in the chain is a mistake of the caller', () => {
    expect(() => answerRequest([], 'X', 'cancel')).toThrow(RangeError)
  })
})
