/** Names and addresses of hosts and of the database in the environment. */
import { expect, test } from 'vitest'
import { readConfig } from '../../src/bin/config.ts'

test.each(['*', '*.x.example', 'a.example,b.example', 'a..example', 'bücher.example', '::1', '[::1]:80'])(
  'a name that no request can bear ends the start: %s',
  (name) => {
    for (const variable of ['GEN_HOST', 'GEO_HOST', 'WL_HOST'])
      expect(() => readConfig({ [variable]: name })).toThrow(
        `${variable} must be one host name without a port, not ${name}`,
      )
  },
)

test.each(['gen.example', 'localhost', '10.0.0.1', '[::1]', 'my_host', 'xn--bcher-kva.example'])(
  'a name that requests can bear is taken: %s',
  (name) => expect(readConfig({ GEN_HOST: name }).hosts.Gen.name).toBe(name),
)

test.each([
  [{ WL_HOST: 'wl.example:9000' }, 'WL_HOST must be one host name without a port, not wl.example:9000'],
  [
    { GEN_HOST: 'https://gen.example' },
    'GEN_HOST must be one host name without a port, not https://gen.example',
  ],
  [{ GEO_HOST: 'geo.example.' }, 'GEO_HOST must be one host name without a port, not geo.example.'],
  [{ GEN_HOST: 'x.example', WL_HOST: 'X.example' }, 'GEN_HOST, GEO_HOST and WL_HOST must be different names'],
])('a host that no request could reach ends the start: %j', (environment, says) => {
  expect(() => readConfig(environment)).toThrow(says)
})

test('an address to listen at may be in brackets, as it is in an address of the web', () => {
  expect(readConfig({ HOST: '[::1]' }).host).toBe('::1')
  expect(readConfig({ METRICS_PORT: '9100', METRICS_HOST: '[::]' }).metrics?.host).toBe('::')
  expect(readConfig({ HOST: '::1' }).host).toBe('::1')
})

test.each([
  'h1,h2/d',
  'u:p@h1,h2:5432/d',
  'u:p@h1:5432,h2:5432/d?target_session_attrs=read-write',
  'u:p@/d?host=h1,h2',
  'u:p@h/d?port=5432,5433',
])('several hosts of the database are refused as what they are: %s', (rest) => {
  expect(() => readConfig({ DATABASE_URL: `postgres://${rest}` })).toThrow(
    'DATABASE_URL must name one host and one port, not several',
  )
})

test.each(['u:p#q@h/d', 'u:p/q@h/d', 'u:p,/q@h/d', 'u:p?q@h/d', 'u:p%e9@h/d', 'u:p@h/d%ff', 'u:p@h:99999/d'])(
  'an address of a database that cannot be read says how it is written, and is not repeated: %s',
  (rest) => {
    expect(() => readConfig({ DATABASE_URL: `postgres://${rest}` })).toThrow(
      /^DATABASE_URL cannot be read: its port is at most 65535, and what is special in an address, such as @ : .* is written as %XX in its user, password and database$/,
    )
  },
)

test('a port of the database beside its address is one', () => {
  expect(() => readConfig({ DATABASE_URL: 'postgres://h/d?port=abc' })).toThrow(
    'port in DATABASE_URL must be 0 to 65535, not abc',
  )
})

test.each([
  'u:p,q@h/d',
  'u:p%2F%23%40%C3%A9@h/d',
  'u:p%@h/d',
  'u:p@q@h/d',
  '/d?host=/tmp/folder&port=5433',
  'u@/d?host=/tmp/folder',
  '%2Ftmp%2Ffolder/d',
  'h',
])('any other address of a database stays as it is: %s', (rest) => {
  const address = `postgres://${rest}`
  expect(readConfig({ DATABASE_URL: address }).databaseUrl).toBe(address)
})
