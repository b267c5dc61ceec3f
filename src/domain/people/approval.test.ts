import { describe, expect, test } from 'vitest'
import { type ApprovalEvent, type ApprovalStatus, approvalAfter, approvalAt } from './approval.ts'

const events: ApprovalEvent[] = [
  'approve',
  'decline',
  'expire',
  'deferToBroker',
  'complete',
  'fail',
  'supersede',
]

/** What each event leads to, in the order above; - where it cannot happen. */
const expected: Record<ApprovalStatus, string> = {
  PendingCustomer: 'Processing Failed Expired - - - Superseded',
  Processing: '- - - PendingBroker Completed Failed Superseded',
  PendingBroker: '- - - - Completed Failed Superseded',
  Completed: '- - - - - - -',
  Failed: '- - - - - - -',
  Expired: '- - - - - - -',
  Superseded: '- - - - - - -',
}

describe('what follows what', () => {
  test.each(Object.entries(expected))('%s', (status, after) => {
    const found = events.map((event) => approvalAfter(status as ApprovalStatus, event) ?? '-')
    expect(found.join(' ')).toBe(after)
  })
})

test.each<[ApprovalStatus, number, ApprovalStatus]>([
  ['PendingCustomer', 99, 'PendingCustomer'],
  ['PendingCustomer', 100, 'Expired'],
  ['PendingBroker', 100, 'PendingBroker'],
  ['Completed', 500, 'Completed'],
])('%s at %s of 100 is %s', (status, now, seen) => {
  expect(approvalAt({ status, expiresAt: 100 }, now)).toBe(seen)
})
