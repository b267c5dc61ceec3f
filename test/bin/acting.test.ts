/** How the audit log names whoever types a command. */
import * as os from 'node:os'
import { expect, test, vi } from 'vitest'
import { operator } from '../../src/bin/acting.ts'

vi.mock('node:os', async (original) => {
  const real = await original<typeof os>()
  return { ...real, userInfo: vi.fn(real.userInfo) }
})

test('a user that the system has no name for goes by its number', () => {
  vi.mocked<() => unknown>(os.userInfo).mockImplementationOnce(() => {
    throw new Error('uv_os_get_passwd returned ENOENT')
  })
  expect(operator().who).toBe(`user ${process.getuid?.()}`)
})
