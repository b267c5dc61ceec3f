/** The shell in which guides are walked, on a machine whose environment is somebody else's. */
import { spawnSync } from 'node:child_process'
import { once } from 'node:events'
import { createServer } from 'node:http'
import type { AddressInfo } from 'node:net'
import { expect, onTestFinished, test } from 'vitest'
import { openShell } from './guide.ts'

const canPaste = ['bash', 'curl'].every((tool) => spawnSync(tool, ['--version']).status === 0)

test.skipIf(!canPaste)('a proxy of the environment is not asked for what is on this machine', async () => {
  const server = createServer((_request, response) => response.end('here\n')).listen(0, '127.0.0.1')
  await once(server, 'listening')
  const { port } = server.address() as AddressInfo
  // Nobody listens at port 9: what is sent there is lost.
  const shell = openShell({ http_proxy: 'http://127.0.0.1:9', no_proxy: '' })
  onTestFinished(async () => {
    await shell.close()
    server.close()
  })
  expect(await shell.paste(`curl -s http://127.0.0.1:${port}`)).toContain('here')
})
