/** What commands print: names that others chose are shown, and do nothing to a terminal. */
import { expect, onTestFinished, test, vi } from 'vitest'
import { printBanner } from '../../src/bin/banner.ts'
import { ConfigError, readConfig } from '../../src/bin/config.ts'
import { faultOf } from '../../src/bin/faults.ts'
import { portOf } from '../../src/bin/port.ts'
import { say } from '../../src/bin/tool.ts'
import { DatabaseUnavailable } from '../../src/storage/database/failure.ts'

function printed(output: { json?: boolean }, facts: object, text: string | string[]): string {
  const log = vi.spyOn(console, 'log').mockImplementation(() => undefined)
  try {
    say(output, facts, text)
    return log.mock.calls.flat().join()
  } finally {
    log.mockRestore()
  }
}

const name = 'Gold\u001b[2J\n7  Fake  \u009b31m\u0007'

test('a name begins no line of its own and gives a terminal no orders', () => {
  expect(printed({}, {}, [`1  ${name}  9.00`, '2  Euro'])).toBe(
    '1  Gold\ufffd[2J\ufffd7  Fake  \ufffd31m\ufffd  9.00\n2  Euro',
  )
  expect(printed({}, {}, `two\nlines of ours, ${name}`)).toBe(
    'two\nlines of ours, Gold\ufffd[2J\n7  Fake  \ufffd31m\ufffd',
  )
  expect(faultOf(new ConfigError(`no ${name}`))).toBe('lockstep: no Gold\ufffd[2J\n7  Fake  \ufffd31m\ufffd')
})

test('as JSON it is whole', () => {
  const text = printed({ json: true }, { name }, '')
  expect(text).not.toMatch(/\p{Cc}/u)
  expect(JSON.parse(text)).toEqual({ name })
})

test.each(['write EPIPE', 'read ECONNRESET', 'Connection terminated unexpectedly'])(
  'a database that is gone with a %s is told by where the reason is',
  (said) =>
    expect(faultOf(new DatabaseUnavailable('lost', { cause: new Error(said) }))).toBe(
      `lockstep: the database went away at work: ${said}; its disk may be full, the log of the server says why`,
    ),
)

test('the port of all of http is known by its number', () => {
  expect([portOf('http://127.0.0.1:80'), portOf('http://[::1]:9000')]).toEqual([80, 9000])
  const log = vi.spyOn(console, 'log').mockImplementation(() => undefined)
  onTestFinished(() => log.mockRestore())
  printBanner(readConfig({ DEMO: '0', PORT: '80' }), 'http://127.0.0.1:80')
  expect(log.mock.calls.flat()).toContain('  Gen  http://127.0.0.1:80/gen')
})
