/** Names and addresses of hosts in the environment. */
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
