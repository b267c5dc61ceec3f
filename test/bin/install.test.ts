/** A fresh clone: what is said while its dependencies are installed. */
import { spawnSync } from 'node:child_process'
import { copyFileSync, mkdirSync, mkdtempSync, rmSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { delimiter, join } from 'node:path'
import { expect, onTestFinished, test } from 'vitest'

test('standard output stays for what a command says, also where it installs first', () => {
  const clone = mkdtempSync(join(tmpdir(), 'lockstep-clone-'))
  onTestFinished(() => rmSync(clone, { recursive: true }))
  mkdirSync(join(clone, 'scripts'))
  copyFileSync('scripts/install.mjs', join(clone, 'scripts', 'install.mjs'))
  writeFileSync(join(clone, 'package-lock.json'), '{"packages":{}}')
  writeFileSync(join(clone, 'npm'), '#!/bin/sh\necho "added 1 package"\n', { mode: 0o755 })
  const program = `(await import('./scripts/install.mjs')).ensureInstalled(); console.log('{"ready":1}')`
  const { stdout, stderr, status } = spawnSync(process.execPath, ['--input-type=module', '-e', program], {
    cwd: clone,
    env: { ...process.env, PATH: `${clone}${delimiter}${process.env.PATH}` },
    encoding: 'utf8',
  })
  expect([status, stdout]).toEqual([0, '{"ready":1}\n'])
  expect(stderr).toBe('Installing the locked dependencies ...\nadded 1 package\n')
})
