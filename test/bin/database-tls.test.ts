/** A database of one's own over TLS: what its address asks for, and what is said when that cannot be had. */
import { spawnSync } from 'node:child_process'
import { mkdtempSync, readFileSync, rmSync, writeFileSync } from 'node:fs'
import { type AddressInfo, createServer, type Server, type Socket } from 'node:net'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { createSecureContext, TLSSocket } from 'node:tls'
import { afterAll, expect, onTestFinished, test } from 'vitest'
import { readConfig } from '../../src/bin/config.ts'
import { faultOf } from '../../src/bin/faults.ts'
import { openDatabase } from '../../src/storage/database/database.ts'
import { silentLog } from '../support/database-server.ts'

const folder = mkdtempSync(join(tmpdir(), 'lockstep-tls-'))
afterAll(() => rmSync(folder, { recursive: true }))

const addressOf = (query: string): string | undefined =>
  readConfig({ DATABASE_URL: `postgres://u:p@h/d${query}` }).databaseUrl

test.each(['prefer', 'require', 'verify-ca'])(
  'sslmode=%s is what the driver takes it for, and it says nothing',
  (mode) => {
    expect(addressOf(`?sslmode=${mode}`)).toBe('postgres://u:p@h/d?sslmode=verify-full')
    expect(addressOf(`?a=1&sslmode=${mode}&sslrootcert=f`)).toBe(
      'postgres://u:p@h/d?a=1&sslmode=verify-full&sslrootcert=f',
    )
    const asked = `?uselibpqcompat=true&sslmode=${mode}`
    expect(addressOf(asked)).toBe(`postgres://u:p@h/d${asked}`)
  },
)

test.each(['', '?sslmode=disable', '?sslmode=verify-full', '?sslmode=no-verify', '?x=sslmode=require'])(
  'any other address stays as it is: %j',
  (query) => expect(addressOf(query)).toBe(`postgres://u:p@h/d${query}`),
)

test('a way of TLS that there is not is refused: it would be taken for another', () => {
  expect(() => addressOf('?sslmode=allow')).toThrow(
    'sslmode in DATABASE_URL must be one of disable, prefer, require, verify-ca, verify-full, no-verify, not allow',
  )
})

/** What is said of a server that does so with who asks it for TLS. */
async function said(answer: (socket: Socket) => void, query: string): Promise<unknown> {
  const server: Server = createServer((socket) => {
    socket.on('error', () => socket.destroy())
    socket.once('data', () => answer(socket))
  })
  onTestFinished(() => void server.close())
  await new Promise<void>((resolve) => void server.listen(0, '127.0.0.1', resolve))
  const url = `postgres://u:p@127.0.0.1:${(server.address() as AddressInfo).port}/d?${query}`
  return openDatabase({ url, applicationName: 'tests', log: silentLog }).then(() => undefined, faultOf)
}

// What could heal by itself is waited for half a minute, longer than a test may take.
test('a server without TLS is not waited for', async () => {
  expect(await said((socket) => socket.end('N'), 'sslmode=verify-full')).toBe(
    'lockstep: the database turns us away: The server does not support SSL connections',
  )
})

test.each([
  ['nowhere.crt', 'ENOENT'],
  ['', 'EISDIR'],
])('a certificate that cannot be read is named at once: %j', async (name, code) => {
  const query = `sslmode=verify-full&sslrootcert=${encodeURIComponent(join(folder, name))}`
  expect(await said((socket) => socket.end(), query)).toMatch(
    `lockstep: a file that DATABASE_URL names cannot be read: ${code}: `,
  )
})

test.each([
  ['sslrootcert', 'certificate'],
  ['sslcert', 'certificate'],
  ['sslkey', 'private key without a passphrase'],
])('a file that holds something else is named at once: %s', async (name, is) => {
  const file = join(folder, 'words.pem')
  for (const text of ['these are words', '']) {
    writeFileSync(file, text)
    expect(await said((socket) => socket.end(), `sslmode=verify-full&${name}=${file}`)).toBe(
      `lockstep: ${file}, which DATABASE_URL names by ${name}, cannot be used: there is no ${is} in it, as PEM`,
    )
  }
})

const made = spawnSync(
  'openssl',
  [...'req -x509 -newkey rsa:2048 -nodes -days 2 -subj /CN=x -keyout key -out crt'.split(' ')],
  { cwd: folder },
)

test.runIf(made.status === 0)('a server whose certificate nobody vouches for is named at once', async () => {
  const [key, cert] = ['key', 'crt'].map((name) => readFileSync(join(folder, name)))
  const secureContext = createSecureContext({ key, cert })
  const answer = (socket: Socket): void => {
    socket.write('S')
    new TLSSocket(socket, { isServer: true, secureContext }).on('error', () => socket.destroy())
  }
  // Newer versions of Node add what may help.
  expect(await said(answer, 'sslmode=verify-full')).toMatch(
    /^lockstep: the database is not trusted: self-signed certificate;.* DATABASE_URL says by sslmode and sslrootcert who is$/,
  )
  expect(await said(answer, `sslmode=verify-full&sslrootcert=${join(folder, 'crt')}`)).toMatch(
    /not trusted: Hostname\/IP does not match certificate's altnames: /,
  )
})
