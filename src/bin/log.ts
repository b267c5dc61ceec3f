/** The log of a process: one JSON line per event on standard error, so that standard output stays for people. */
import { destination, type Logger, pino } from 'pino'
import type { Config } from './config.ts'

export const openLog = (config: Config, process: string): Logger =>
  pino(
    {
      level: config.logLevel,
      base: { process },
      // By itself only `err` would be written with its message and stack.
      serializers: { error: pino.stdSerializers.err },
      // Whatever an object of a log line holds, these never come out.
      redact: [
        '*.authorization',
        '*.password',
        '*.AccountPassword',
        '*.UserToken',
        '*.key',
        '*.secret',
        '*.url',
      ],
    },
    destination(2),
  )
