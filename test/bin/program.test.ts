/** The sources as one file: always those that are there, wherever they are, and not needed. */
import { spawnSync } from 'node:child_process'
import {
  appendFileSync,
  copyFileSync,
  cpSync,
  mkdirSync,
  mkdtempSync,
  readdirSync,
  readFileSync,
  realpathSync,
  rmSync,
  symlinkSync,
  writeFileSync,
} from 'node:fs'
import { tmpdir } from 'node:os'
import { join, resolve } from 'node:path'
import { expect, onTestFinished, test } from 'vitest'

/** A clone that shares the packages, but not the folder in which the file is kept. */
function newClone(): string {
  const clone = realpathSync(mkdtempSync(join(tmpdir(), 'lockstep-clone-')))
  onTestFinished(() => rmSync(clone, { recursive: true }))
  for (const folder of ['src', 'scripts']) cpSync(folder, join(clone, folder), { recursive: true })
  for (const file of ['package.json', 'package-lock.json', 'tsconfig.json'])
    copyFileSync(file, join(clone, file))
  mkdirSync(join(clone, 'node_modules'))
  for (const name of readdirSync('node_modules').filter((each) => each !== '.cache' && each !== '.bin'))
    symlinkSync(resolve('node_modules', name), join(clone, 'node_modules', name))
  return clone
}

function run(clone: string, ...words: string[]) {
  const said = spawnSync(process.execPath, [join(clone, 'scripts', 'lockstep.mjs'), ...words], {
    cwd: tmpdir(),
    encoding: 'utf8',
  })
  return { status: said.status, out: said.stdout, errors: said.stderr }
}

const kept = (clone: string): string => join(clone, 'node_modules', '.cache', 'lockstep')
const { version } = JSON.parse(readFileSync('package.json', 'utf8')) as { version: string }

test('it is made once, and anew for a source that has changed; what breaks is named by its source', () => {
  const clone = newClone()
  expect(run(clone, '--version')).toEqual({ status: 0, out: `${version}\n`, errors: '' })
  const made = readdirSync(kept(clone))
  expect(run(clone, '--version').out).toBe(`${version}\n`)
  expect(readdirSync(kept(clone))).toEqual(made)
  expect(made).toEqual([expect.stringMatching(/^\w+\.mjs$/), expect.stringMatching(/^\w+\.mjs\.map$/)])
  const source = join(clone, 'src', 'bin', 'config.ts')
  const line = readFileSync(source, 'utf8').split('\n').length
  appendFileSync(source, "throw new Error('changed')\n")
  const { status, errors } = run(clone, '--version')
  expect([status, errors]).toEqual([1, expect.stringContaining(`${source}:${line}:`)])
})

test('where it cannot be kept the sources are loaded', () => {
  const clone = newClone()
  writeFileSync(join(clone, 'node_modules', '.cache'), 'no folder')
  expect(run(clone, '--version')).toEqual({ status: 0, out: `${version}\n`, errors: '' })
})
