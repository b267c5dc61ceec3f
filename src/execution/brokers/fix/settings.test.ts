import { rootCertificates } from 'node:tls'
import { describe, expect, test } from 'vitest'
import { dailyStart, readFixSettings } from './settings.ts'

const least = { host: 'h', port: 9880, senderCompId: 'US', targetCompId: 'THEM' }

describe('the settings of a connection', () => {
  test('have defaults beside the least that is needed', () => {
    expect(readFixSettings(least)).toMatchObject({
      ...least,
      tls: undefined,
      heartbeatSeconds: 30,
      startsDaily: undefined,
      tellsPositions: false,
      listsWorking: false,
      marksShortSales: true,
    })
  })

  test('name the certificates that are believed, one or several', () => {
    const [one = '', other = ''] = rootCertificates
    for (const ca of [one, `# ours\n${one}\n${other}\n`])
      expect(readFixSettings({ ...least, tls: { ca } }).tls).toEqual({ ca })
  })

  test('name the server that the certificate is of', () => {
    expect(readFixSettings({ ...least, tls: { serverName: 'fix.us' } }).tls).toEqual({ serverName: 'fix.us' })
  })

  test.each<[string, object, RegExp]>([
    ['no host', { host: undefined }, /^host must be/],
    ['a port that is none', { port: 70_000 }, /^port must be a whole number from 1 to 65535$/],
    ['a port as text', { port: '9880' }, /^port must be/],
    ['an id that would break a message', { senderCompId: 'U\u0001S' }, /^senderCompId must be/],
    ['a password that is no text', { password: 7 }, /^password must be/],
    ['a heartbeat of no time', { heartbeatSeconds: 0 }, /^heartbeatSeconds must be/],
    ['a switch that is none', { tellsPositions: 'yes' }, /^tellsPositions must be true or false$/],
    ['a setting that nobody knows', { pasword: 's3cret' }, /^there is no setting pasword$/],
    ['TLS that is no object', { tls: true }, /^tls must be an object$/],
    ['a setting of TLS that nobody knows', { tls: { verify: false } }, /^there is no setting tls.verify$/],
    [
      'the path of a certificate',
      { tls: { ca: '/etc/s3cret.pem' } },
      /^tls.ca must be a certificate in PEM$/,
    ],
    ['no certificate at all', { tls: { ca: '' } }, /^tls.ca must be a certificate in PEM$/],
    ['a start without a zone', { startsDaily: '17:00' }, /^startsDaily must be a time and one of /],
    ['a start in no zone', { startsDaily: '17:00 Mars/Base' }, /^startsDaily must be/],
    ['a start at no time', { startsDaily: '24:00 UTC' }, /^startsDaily must be/],
  ])('%s is named and not repeated', (_, change, expected) => {
    expect(() => readFixSettings({ ...least, ...change })).toThrow(expected)
    expect(() => readFixSettings({ ...least, ...change })).not.toThrow('s3cret')
  })

  test.each([
    ['before it', '2024-03-12T20:59:00Z', '2024-03-11T21:00:00Z'],
    ['at it', '2024-03-12T21:00:00Z', '2024-03-12T21:00:00Z'],
    ['after it', '2024-03-13T03:00:00Z', '2024-03-12T21:00:00Z'],
    ['in winter', '2024-01-10T22:00:00Z', '2024-01-10T22:00:00Z'],
  ])('the daily start %s', (_, now, expected) => {
    const settings = readFixSettings({ ...least, startsDaily: '17:00 America/New_York' })
    expect(dailyStart(settings, Date.parse(now))).toBe(Date.parse(expected))
  })

  test('the daily start is a minute of an hour', () => {
    const settings = readFixSettings({ ...least, startsDaily: '17:30 America/New_York' })
    expect(dailyStart(settings, Date.parse('2024-03-12T22:00:00Z'))).toBe(Date.parse('2024-03-12T21:30:00Z'))
  })

  test('without one there is none', () => {
    expect(dailyStart(readFixSettings(least), 0)).toBeNull()
  })
})
