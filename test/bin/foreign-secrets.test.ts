/** Secrets other than those that a database was used with: commands stop at them until the operator accepts them. */
import { mkdirSync, readFileSync, rmSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { beforeAll, describe, expect, test } from 'vitest'
import { auditHeads } from '../../src/bin/audit-heads.ts'
import { readConfig } from '../../src/bin/config.ts'
import { examineSecrets } from '../../src/bin/doctor.ts'
import { openSecrets } from '../../src/bin/secrets.ts'
import { commandLine } from '../support/command-line.ts'
import { testDatabase } from '../support/database.ts'

const { db, url } = await testDatabase()
const { folder, runHere: run } = commandLine(url)

/** The first command makes the secrets, and the database is used with them from then on. */
beforeAll(async () => expect((await run('credentials', 'rotate')).status).toBe(0))

describe('secrets of another installation', () => {
  const file = (name: string) => join(folder, name)

  test.each([
    ['secret', 'secret'],
    ['key-ring', 'key-ring k1'],
  ])('%s, made anew because its file is lost', async (name, mark) => {
    const kept = readFileSync(file(name))
    rmSync(file(name))
    const { status, errors } = await run('credentials', 'rotate')
    expect([status, errors]).toEqual([
      1,
      expect.stringContaining(
        `lockstep: ${file(name)} is not what this database was used with (${mark}): restore it`,
      ),
    ])
    writeFileSync(file(name), kept)
    expect((await run('credentials', 'rotate')).status).toBe(0)
  })

  test('another key beside the known one is taken in, and counts from then on', async () => {
    const [known, added] = [readFileSync(file('key-ring')), 'k2:'.padEnd(46, 'A').concat('=')]
    writeFileSync(file('key-ring'), `${added} ${known}`)
    expect((await run('credentials', 'rotate')).status).toBe(0)
    writeFileSync(file('key-ring'), `${added.replace('AA', 'BB')} ${known}`)
    expect((await run('credentials', 'rotate')).errors).toContain('(key-ring k2)')
    writeFileSync(file('key-ring'), known)
  })

  test('a process whose folder never had those of a database elsewhere says so and goes on', async () => {
    const other = join(folder, 'other')
    mkdirSync(other)
    const config = readConfig({ DATA_DIR: other, DATABASE_URL: url })
    const said: unknown[] = []
    const log = { warn: (facts: unknown) => said.push(facts) }
    await openSecrets(config, db, log)
    expect(said).toEqual([{ foreign: ['key-ring k1', 'secret'] }])
    await expect(openSecrets(config, db)).rejects.toThrow('is not what this database was used with')
    const given = { ...config, secret: 'x'.repeat(32) }
    await expect(openSecrets(given, db, log)).rejects.toThrow('is not what this database was used with')
  })

  test('where none is another, accepting them ends nothing, and without a key of the ring no access key', async () => {
    const accept = async () => (await run('secrets', 'accept')).output
    expect(await accept()).toBe(
      'The present secrets are those that the database was used with: all access keys go on.',
    )
    const kept = readFileSync(file('key-ring'))
    rmSync(file('key-ring'))
    expect((await run('credentials', 'rotate')).status).toBe(1)
    expect(await accept()).toMatch(/^The present secrets count .* sealed .* all access keys go on\.$/)
    writeFileSync(file('key-ring'), kept)
    await accept()
    expect((await run('credentials', 'rotate')).status).toBe(0)
  })

  test('what a lost key wrapped keeps nothing else from being wrapped anew', async () => {
    const ring = (name: string, letter: string) => `${name}:${letter.repeat(42)}A=`
    const add = (place: number) =>
      run('webhooks', 'add', 'shut', `https://example.com/${place}`, '--events', `approval.${events[place]}`)
    const events = ['completed', 'failed']
    const kept = readFileSync(file('key-ring'))
    await run('sites', 'add', 'shut', '--kind', 'whitelabel', '--name', 'Shut')
    for (const [place, keys] of [ring('lost', 'B'), `${ring('held', 'C')} ${ring('lost', 'B')}`].entries()) {
      writeFileSync(file('key-ring'), keys)
      expect((await add(place)).status).toBe(0)
    }
    writeFileSync(file('key-ring'), `${ring('next', 'D')} ${ring('held', 'C')}`)
    expect((await run('credentials', 'rotate')).errors).toContain('(key-ring lost)')
    const secrets = async () => (await run('doctor')).output.split('\n').at(-1)
    expect(await secrets()).toBe('ok  secrets: not what the database was used with: key-ring lost')
    const inside = { ...readConfig({ DATA_DIR: folder }), databaseUrl: undefined }
    expect(await examineSecrets(inside, db)).toMatchObject({ ok: false })
    expect(await examineSecrets({ ...inside, secret: 'short' }, db)).toEqual({
      name: 'secrets',
      ok: false,
      says: 'LOCKSTEP_SECRET must have at least 32 characters',
    })
    await run('secrets', 'accept')
    expect(await secrets()).toBe('ok  secrets: those that the database was used with')
    const { status, output } = await run('credentials', 'rotate')
    expect([status, output]).toEqual([
      1,
      expect.stringMatching(/^1 credentials are wrapped by the first key\.\n1 stay shut, /),
    ])
    await db.write.run`delete from webhook_secret`
    expect((await run('credentials', 'rotate')).status).toBe(0)
    writeFileSync(file('key-ring'), kept)
  })

  test('the operator accepts them', async () => {
    auditHeads(readConfig({ DATA_DIR: folder })).save([])
    rmSync(file('secret'))
    expect((await run('credentials', 'rotate')).status).toBe(1)
    expect((await run('audit', 'head')).errors).toContain('does not hold what this installation signed')
    expect((await run('secrets', 'accept')).output).toContain('issue new access keys')
    expect((await run('credentials', 'rotate')).status).toBe(0)
    expect((await run('audit', 'head')).output).toContain('nothing has been signed yet')
  })
})
