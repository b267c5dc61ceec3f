/** The file of an export has its name when it is whole: what is cut short looks like nothing else, and replaces nothing. */
import { spawn } from 'node:child_process'
import { pbkdf2 } from 'node:crypto'
import { EventEmitter, once } from 'node:events'
import {
  chmodSync,
  existsSync,
  lstatSync,
  mkdtempSync,
  readdirSync,
  readFileSync,
  rmSync,
  statSync,
  symlinkSync,
  writeFileSync,
} from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { promisify } from 'node:util'
import { afterAll, beforeEach, expect, test } from 'vitest'
import { writeExport } from '../../src/bin/export.ts'

const folder = mkdtempSync(join(tmpdir(), 'lockstep-export-files-'))
afterAll(() => rmSync(folder, { recursive: true }))
const file = join(folder, 'x.csv')
beforeEach(() => writeFileSync(file, 'precious', { mode: 0o644 }))

async function* whole() {
  yield 'Id'
}

const isAlone = () => expect(readdirSync(folder)).toEqual(['x.csv'])

test('one that ends before its last page leaves what was there', async () => {
  async function* pages() {
    yield 'Id\r\n1\r\n'
    throw new Error('the database went away')
  }
  await expect(writeExport(pages(), file)).rejects.toThrow('the database went away')
  expect(readFileSync(file, 'utf8')).toBe('precious')
  isAlone()
})

test('one that ends while the disk is busy leaves nothing of its own behind, later either', async () => {
  // As many as there are threads for the disk: what is asked of it now waits.
  const busy = Array.from({ length: 8 }, () => promisify(pbkdf2)('a', 'b', 200_000, 32, 'sha256'))
  async function* pages() {
    yield 'Id'
    throw new Error('the database went away')
  }
  await expect(writeExport(pages(), file)).rejects.toThrow('the database went away')
  await Promise.all(busy)
  isAlone()
})

test('of two of one name at once each is whole, and the one that ends last stays', async () => {
  const written = new EventEmitter()
  async function* slow() {
    yield 'the slow one begins, '
    await once(written, 'quick')
    yield 'and ends'
  }
  async function* quick() {
    yield 'the quick one, whole'
  }
  const first = writeExport(slow(), file)
  await writeExport(quick(), file)
  expect(readFileSync(file, 'utf8')).toBe('the quick one, whole')
  written.emit('quick')
  await first
  expect(readFileSync(file, 'utf8')).toBe('the slow one begins, and ends')
  expect(statSync(file).mode & 0o777).toBe(0o600)
  isAlone()
})

test('one that is told to end leaves what was there, and nothing of its own', async () => {
  const code = `
    const { writeExport } = await import('./src/bin/export.ts')
    const { endsAtOnce } = await import('./src/bin/process.ts')
    endsAtOnce()
    setInterval(() => {}, 1_000)
    await writeExport((async function* () {
      yield 'Id'
      yield '1'
      console.log('begun')
      await new Promise(() => {})
    })(), process.env.EXPORT_FILE)`
  const words = ['--import', './scripts/typescript.mjs', '--input-type=module', '--eval', code]
  const child = spawn(process.execPath, words, { env: { ...process.env, EXPORT_FILE: file } })
  await once(child.stdout, 'data')
  expect(readdirSync(folder)).toHaveLength(2)
  child.kill('SIGTERM')
  expect(await once(child, 'exit')).toEqual([143, null])
  expect(readFileSync(file, 'utf8')).toBe('precious')
  isAlone()
}, 120_000)

test('a link stays one, and what it leads to is written', async () => {
  const link = join(folder, 'link.csv')
  symlinkSync(file, link)
  await writeExport(whole(), link)
  expect([lstatSync(link).isSymbolicLink(), readFileSync(file, 'utf8')]).toEqual([true, 'Id'])
  rmSync(link)
  isAlone()
})

test('a link to a file that is not there yet stays one', async () => {
  const link = join(folder, 'link.csv')
  const elsewhere = join(folder, 'elsewhere.csv')
  symlinkSync(elsewhere, link)
  await writeExport(whole(), link)
  expect([lstatSync(link).isSymbolicLink(), readFileSync(elsewhere, 'utf8')]).toEqual([true, 'Id'])
  expect(statSync(elsewhere).mode & 0o777).toBe(0o600)
  rmSync(link)
  rmSync(elsewhere)
  isAlone()
})

test('a file has as long a name as its disk allows', async () => {
  const long = join(folder, 'x'.repeat(255))
  await writeExport(whole(), long)
  expect(readFileSync(long, 'utf8')).toBe('Id')
  rmSync(long)
  isAlone()
})

// Root may write everywhere.
test.skipIf(process.getuid?.() === 0)('a file is written in a folder that takes no other', async () => {
  chmodSync(folder, 0o500)
  try {
    await writeExport(whole(), file)
    expect(readFileSync(file, 'utf8')).toBe('Id')
  } finally {
    chmodSync(folder, 0o700)
  }
  isAlone()
})

test.skipIf(!existsSync('/dev/full'))('a device is written where it is', async () => {
  await expect(writeExport(whole(), '/dev/full')).rejects.toThrow(
    '/dev/full cannot be written: its disk is full',
  )
  expect(statSync('/dev/full').isCharacterDevice()).toBe(true)
})
