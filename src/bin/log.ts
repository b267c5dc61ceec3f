/** The log of a process: one JSON line per event on standard error, so that standard output stays for people. */
import { type DestinationStream, destination, type Logger, pino } from 'pino'
import type { Config } from './config.ts'

/**
 * A log of one JSON line per entry, to standard error unless another stream is given; secrets are struck out.
 */
export const openLog = (
  config: Pick<Config, 'logLevel'>,
  process: string,
  stream: DestinationStream = destination(2),
): Logger =>
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
        // The database quotes whole rows here.
        '*.detail',
        '*.where',
      ],
    },
    stream,
  )
