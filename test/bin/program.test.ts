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
  utimesSync,
  writeFileSync,
} from 'node:fs'
import { tmpdir } from 'node:os'
import { join, resolve } from 'node:path'
import { pathToFileURL } from 'node:url'
import { expect, onTestFinished, test } from 'vitest'

/** A clone that shares the packages, but not the folder in which the file is kept. */
function newClone(name = ''): string {
  const clone = realpathSync(mkdtempSync(join(tmpdir(), `lockstep-clone-${name}`)))
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

/** Asks for the file in a process of its own, which does `meanwhile` before anything is made. */
function makeWhile(clone: string, meanwhile: string): void {
  const program = JSON.stringify(pathToFileURL(join(clone, 'scripts', 'program.mjs')).href)
  const code = `const { appendFileSync } = require('node:fs')
    import(${program}).then(({ wholeProgram }) => { const made = wholeProgram(); ${meanwhile}; return made })`
  expect(spawnSync(process.execPath, ['-e', code], { encoding: 'utf8' }).stderr).toBe('')
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

test('what changed while it was made is not kept under the name of what was there before', () => {
  const clone = newClone()
  const source = join(clone, 'src', 'bin', 'config.ts')
  const before = readFileSync(source)
  makeWhile(clone, `appendFileSync(${JSON.stringify(source)}, "throw new Error('changed')")`)
  writeFileSync(source, before)
  expect(run(clone, '--version')).toEqual({ status: 0, out: `${version}\n`, errors: '' })
})

test('a dollar in the path of a clone is only that', () => {
  const clone = newClone("a$$b$'-")
  expect(run(clone, '--version')).toEqual({ status: 0, out: `${version}\n`, errors: '' })
  expect(readdirSync(kept(clone))).toHaveLength(2)
})

test('of a clone with the packages of another one, what breaks is named by its own source', () => {
  const clone = newClone()
  const other = newClone()
  rmSync(join(clone, 'node_modules'), { recursive: true })
  symlinkSync(join(other, 'node_modules'), join(clone, 'node_modules'))
  const source = join(clone, 'src', 'bin', 'config.ts')
  appendFileSync(source, "throw new Error('changed')\n")
  expect(run(clone, '--version').errors).toContain(`${source}:`)
})

test('one that is in use is kept when another is made, and one that is not is dropped', () => {
  const clone = newClone()
  run(clone, '--version')
  const before = readdirSync(kept(clone))
  const age = (names: string[]) => {
    for (const name of names) utimesSync(join(kept(clone), name), 1e9, 1e9)
  }
  const change = () => appendFileSync(join(clone, 'src', 'bin', 'config.ts'), '\n')
  age(before)
  run(clone, '--version')
  change()
  run(clone, '--version')
  expect(readdirSync(kept(clone))).toEqual(expect.arrayContaining(before))
  age(before)
  change()
  run(clone, '--version')
  expect(readdirSync(kept(clone)).filter((name) => before.includes(name))).toEqual([])
})

test('nothing unfinished is left where it cannot be written to its end', () => {
  const clone = newClone()
  run(clone, '--version')
  const [file = '', map = ''] = readdirSync(kept(clone))
  rmSync(join(kept(clone), file))
  rmSync(join(kept(clone), map))
  mkdirSync(join(kept(clone), map))
  expect(run(clone, '--version')).toEqual({ status: 0, out: `${version}\n`, errors: '' })
  expect(readdirSync(kept(clone))).toEqual([map])
})
