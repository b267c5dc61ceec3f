/** Pages that are opened without a key: counted, closed and held up like every call, and answered by a page. */
import { expect, test } from 'vitest'
import { DatabaseUnavailable } from '../../src/storage/database/failure.ts'
import { setSwitch } from '../../src/storage/work/switches.ts'
import { startEdge } from './support/edge.ts'

const pages = ['/confirm-email/none', '/approvals/none']
const manual = { '/manual': () => '<!doctype html><title>Manual</title>' }

test('an address that tries one link after the other is stopped like every caller', async () => {
  const edge = await startEdge({ isCounting: () => true, pages: manual })
  const first = await edge.call('/confirm-email/none')
  expect([first.status, first.headers['x-limit-remaining']]).toEqual([404, '99'])
  for (let time = 1; time < 100; time++) await edge.call('/confirm-email/none')
  for (const page of [...pages, '/manual']) {
    const stopped = await edge.call(page)
    expect([stopped.status, stopped.headers['x-limit-remaining']]).toEqual([429, '0'])
    expect(stopped.headers['retry-after']).toBe(stopped.headers['x-limit-reset'])
    expect(stopped.text).toContain('Please try again later')
  }
})

test('maintenance closes them', async () => {
  const edge = await startEdge({ pages: manual })
  for (const [isOn, status] of [
    [true, 503],
    [false, 404],
  ] as const) {
    await setSwitch(edge.db.write, 'maintenance', isOn, edge.clock.now())
    await expect.poll(() => edge.operations.isInMaintenance()).toBe(isOn)
    for (const page of pages) {
      const shown = await edge.call(page)
      expect([shown.status, shown.headers['retry-after']]).toEqual([status, isOn ? '60' : undefined])
    }
    expect((await edge.call('/manual')).status).toBe(isOn ? 503 : 200)
  }
})

test('a database that is away is a page that says so, not a failure', async () => {
  const edge = await startEdge()
  const gone = async (): Promise<never> => {
    throw new DatabaseUnavailable('gone')
  }
  Object.assign(edge.operations.emailConfirmations, { isGood: gone })
  Object.assign(edge.operations.approvals, { open: gone })
  for (const page of pages) {
    const shown = await edge.call(page)
    expect([shown.status, shown.headers['retry-after']]).toEqual([503, '1'])
    // Whether something was changed nobody can say.
    expect(shown.text).toContain('open it again, and it says how things stand')
  }
  expect(edge.lines.filter((line) => line.includes('a request failed'))).toEqual([])
})

test('they are framed by nobody, send their forms home, and tell nobody their address', async () => {
  const edge = await startEdge({ pages: manual })
  for (const page of [...pages, '/manual']) {
    const { headers } = await edge.call(page)
    expect(headers).toMatchObject({ 'x-frame-options': 'DENY', 'referrer-policy': 'no-referrer' })
    expect(String(headers['content-security-policy']).split('; ')).toEqual(
      expect.arrayContaining(["base-uri 'none'", "form-action 'self'", "frame-ancestors 'none'"]),
    )
  }
})

test('a form ends at a kilobyte', async () => {
  const edge = await startEdge()
  const headers = { 'content-type': 'application/x-www-form-urlencoded' }
  for (const page of pages) {
    expect((await edge.call(page, { body: 'x'.repeat(1024), headers })).status).toBe(404)
    expect((await edge.call(page, { body: 'x'.repeat(1025), headers })).status).toBe(400)
  }
})

test('what is a secret in an address is in no log', async () => {
  const edge = await startEdge()
  const { key } = await edge.key(await edge.person())
  const secret = 'a'.repeat(43)
  for (const path of [`/confirm-email/${secret}`, `/approvals/${secret}`]) {
    await edge.call(path)
    // As programs that look at the links in mail do.
    await edge.call(path, { method: 'HEAD' })
    await edge.call(path, { body: '{}' })
    await edge.call(`/${path}`)
  }
  await edge.call(`/gen/General/Hello/${key}?key=${key}`)
  await edge.call(`/approvals/${secret}/${key}`)
  await edge.call('/gen/General/Nothing?Password=short')
  // Where the line of the log ends.
  await edge.call(`/${'long/'.repeat(34)}${secret}`)
  expect(edge.lines).toHaveLength(12)
  const told = edge.lines.filter((line) =>
    [secret.slice(20), key, 'short'].some((word) => line.includes(word)),
  )
  expect(told).toEqual([])
  expect(edge.lines.map((line) => JSON.parse(line).path)).toContain('/approvals/...')
})
