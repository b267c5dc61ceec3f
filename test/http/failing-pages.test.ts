/** Pages that ask the database, when that fails in a way nobody expected: a person reads words. */
import { expect, test } from 'vitest'
import { buildTown } from '../operations/support/town.ts'

const town = await buildTown()
const { db, url } = town.platform

const read = async (path: string) => {
  const answer = await fetch(`${url}${path}`)
  const html = await answer.text()
  return {
    status: answer.status,
    type: answer.headers.get('content-type'),
    title: /<h1>(.*?)<\/h1>/.exec(html)?.[1],
  }
}
const later = (status: number) => ({
  status,
  type: 'text/html; charset=utf-8',
  title: 'Please try again later',
})

test('a failure is a page, and stands in the log without the secret of its address', async () => {
  const { key, personId } = town.people.neighbour
  await town.door('/accounts', [{ account: 'N1', personId, cash: 1000 }])
  const wish = { Account: 'N1', PersonId: personId, StrategyId: town.lonelyStrategyId, StocksEnabled: true }
  const asked = await town.ask('StartAutotrade', wish, { key, host: 'WL' })
  const RequestId = String(asked.headers['x-approval-request-id'])
  const told = await town.ask('GetAutotradeApprovalStatus', { RequestId }, { key, host: 'WL' })
  const address = (told.json as { Results: { ApprovalUrl: string }[] }).Results[0]?.ApprovalUrl ?? ''
  const { pathname } = new URL(address)
  await db.write.run`alter table approval_request rename to mislaid`
  try {
    expect(await read(pathname)).toEqual(later(500))
  } finally {
    await db.write.run`alter table mislaid rename to approval_request`
  }
  expect((await read(pathname)).status).toBe(200)
  const errors = town.platform.errors.splice(0).join()
  expect(errors).toContain('"path":"/approvals"')
  expect(errors).not.toContain(pathname.split('.').at(-1))
})
