/** How a process ends that others started. */
import { type ChildProcess, spawn } from 'node:child_process'
import { fileURLToPath } from 'node:url'
import { expect, test } from 'vitest'

/** Runs the child in a shell, as npm runs a script; the second command keeps the shell from becoming the child. */
function inShell(env: NodeJS.ProcessEnv): ChildProcess {
  const child = fileURLToPath(new URL('../support/ending-child.ts', import.meta.url))
  const script = `"${process.execPath}" --import tsx "${child}"; true`
  return spawn('sh', ['-c', script], {
    env: { ...process.env, ...env },
    stdio: ['ignore', 'pipe', 'inherit'],
  })
}

test('whoever stops npm stops the process that its shell runs', async () => {
  const shell = inShell({ npm_lifecycle_event: 'start' })
  let said = ''
  for await (const text of shell.stdout ?? []) {
    if (said === '') shell.kill('SIGTERM')
    said += text
  }
  expect(said).toBe('ready\nclosed\n')
}, 30_000)
