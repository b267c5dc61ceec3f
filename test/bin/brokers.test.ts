/** The file of live brokers: what it may say, and that it is said without a trace of its secrets. */
import { chmodSync, mkdtempSync, rmSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { afterAll, describe, expect, test } from 'vitest'
import { connectBrokers } from '../../src/bin/brokers.ts'
import { readConfig } from '../../src/bin/config.ts'

const folder = mkdtempSync(join(tmpdir(), 'lockstep-brokers-'))
afterAll(() => rmSync(folder, { recursive: true }))
const path = join(folder, 'brokers.json')
const config = readConfig({ DATA_DIR: folder, LOCKSTEP_BROKERS: path })

/** What connecting says about a file with this text. */
async function saying(text: string | null, mode = 0o600): Promise<string> {
  rmSync(path, { force: true })
  if (text !== null) {
    writeFileSync(path, text)
    chmodSync(path, mode)
  }
  return connectBrokers(config).then(
    (live) => live.close().then(() => Object.keys(live.brokers).join(' ')),
    (error: Error) => error.message,
  )
}

describe('the file of live brokers', () => {
  test.each([
    ['is missing', null, /a file of JSON that can be read$/],
    ['is no JSON', '{"a": s3cret', /a file of JSON that can be read$/],
    ['is a list', '[]', /^LOCKSTEP_BROKERS must be an object$/],
    ['holds a connection that is no object', '{"a": "s3cret"}', /the connection a must be an object$/],
    ['names an unknown kind', '{"a": {"kind": "toString", "password": "s3cret"}}', /the kind of a must be /],
    ['takes the name of the paper broker', '{"paper": {"kind": "x"}}', /cannot be named paper$/],
    ['uses a name that cannot be typed', '{"A b": {"kind": "x"}}', /cannot be named A b$/],
  ])('%s', async (_, text, expected) => {
    const said = await saying(text)
    expect(said).toMatch(expected)
    expect(said).not.toContain('s3cret')
  })

  test('nobody else may read it', async () => {
    expect(await saying('{}', 0o640)).toMatch(/readable by its owner alone/)
    expect(await saying('{}')).toBe('')
  })

  test('no file, no live broker', async () => {
    expect((await connectBrokers(readConfig({ DATA_DIR: folder }))).brokers).toEqual({})
  })
})
