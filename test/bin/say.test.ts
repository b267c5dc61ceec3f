/** What commands print: names that others chose are shown, and do nothing to a terminal. */
import { expect, test, vi } from 'vitest'
import { ConfigError } from '../../src/bin/config.ts'
import { faultOf } from '../../src/bin/faults.ts'
import { say } from '../../src/bin/tool.ts'

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
