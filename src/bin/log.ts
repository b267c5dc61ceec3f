/** The log of a process: one JSON line per event on standard error, so that standard output stays for people. */
import { type DestinationStream, destination, type Logger, pino } from 'pino'
import type { Config } from './config.ts'

/**
 * A log of one JSON line per entry, to standard error unless another stream is given; secrets are struck out.
 */
export const openLog = (
  config: Pick<Config, 'logLevel'>,
  process: string,
  stream: DestinationStream = standardError(),
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

/** So much is kept, in bytes, for when there is room for it again. */
const waitingMax = 1024 * 1024

/** Standard error. That it takes no writes, as a file on a full disk, ends nothing: work goes on without its log. */
function standardError(): DestinationStream {
  const stream = destination({ dest: 2, maxLength: waitingMax })
  let lacksRoom = false
  stream.on('error', () => {
    lacksRoom = true
  })
  stream.on('write', () => {
    lacksRoom = false
  })
  const flush = stream.flushSync.bind(stream)
  // At the exit it would try again for ever, and keep the process from its end.
  stream.flushSync = () => {
    if (!lacksRoom) flush()
  }
  return stream
}
