import { expect, test } from 'vitest'
import { type Standing, type StandingReport, standingAfter } from './kyc.ts'

const fresh: Standing = { startedAt: null, finishedAt: null, approvedAt: null, score: null }
const done: Standing = { startedAt: 1, finishedAt: 2, approvedAt: 3, score: 4 }

test.each<[string, Standing, StandingReport, Standing]>([
  ['nothing starts it', fresh, {}, { ...fresh, startedAt: 9 }],
  ['finished', fresh, { isFinished: true }, { ...fresh, startedAt: 9, finishedAt: 9 }],
  ['approved', fresh, { isApproved: true }, { ...fresh, startedAt: 9, approvedAt: 9 }],
  ['a score of 0', done, { score: 0 }, { ...done, score: 0 }],
  ['the same again', done, { isFinished: true, isApproved: true, score: 4 }, done],
  ['no approval after all', done, { isApproved: false }, { ...done, approvedAt: null }],
  ['not finished after all', done, { isFinished: false }, { ...done, finishedAt: null }],
])('a report of %s', (_, before, report, after) => {
  expect(standingAfter(before, report, 9)).toEqual(after)
})
