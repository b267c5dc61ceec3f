/** A fresh clone: what is said while its dependencies are installed. */
import { spawnSync } from 'node:child_process'
import { copyFileSync, mkdirSync, mkdtempSync, realpathSync, rmSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { delimiter, join } from 'node:path'
import { expect, onTestFinished, test } from 'vitest'

/** A folder of this name with the scripts alone, for which nothing has to be installed. */
function newClone(name: string): string {
  // The scripts name their folder as it is; that of the system may be a link, as on a Mac.
  const around = realpathSync(mkdtempSync(join(tmpdir(), 'lockstep-clone-')))
  onTestFinished(() => rmSync(around, { recursive: true }))
  const clone = join(around, name)
  mkdirSync(join(clone, 'scripts'), { recursive: true })
  for (const script of ['install.mjs', 'test.mjs'])
    copyFileSync(join('scripts', script), join(clone, 'scripts', script))
  writeFileSync(join(clone, 'package-lock.json'), '{"packages":{}}')
  return clone
}

test('standard output stays for what a command says, also where it installs first', () => {
  const clone = newClone('clone')
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

test.each([
  ['who?', 'Lockstep cannot run in a folder with a question mark in its path'],
  ['no#1', 'The tests cannot run in a folder with % or # in its path'],
  ['a%20b', 'The tests cannot run in a folder with % or # in its path'],
])('tests in a folder %j say why they cannot run there', (name, says) => {
  const clone = newClone(name)
  mkdirSync(join(clone, 'node_modules'))
  writeFileSync(join(clone, 'node_modules', '.package-lock.json'), '{"packages":{}}')
  const { stderr, status } = spawnSync(process.execPath, ['scripts/test.mjs'], {
    cwd: clone,
    encoding: 'utf8',
  })
  expect([status, stderr]).toEqual([1, `${says}: ${clone}\n`])
})
