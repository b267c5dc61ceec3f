/** The commands that run something for as long as it is wanted: the whole platform, or one process of it. */
import type { Command } from 'commander'
import type { Logger } from 'pino'
import { startDoorPlatform } from '../door/platform.ts'
import { printBanner } from './banner.ts'
import { type Config, ConfigError, readConfig } from './config.ts'
import { keepServer, provideServer, runElsewhere } from './database.ts'
import { environments } from './environment.ts'
import { textsOf } from './guides.ts'
import { openLog } from './log.ts'
import { mailerOf } from './mail.ts'
import { pagesOf } from './pages.ts'
import { announceReady, endsWith, type Word, wordOfParent } from './process.ts'
import { loadSecrets } from './secrets.ts'
import { serveApi } from './serve.ts'
import { startAll } from './start.ts'
import { type Output, say } from './tool.ts'
import { runWorker } from './worker.ts'

/** Adds start, serve and worker. */
export function addRunCommands(program: Command): void {
  program
    .command('start')
    .description('run everything: database, migrations, demo on first start, the three hosts, a worker')
    .option(...asJson)
    .action((output: Output) => {
      // A person watches the terminal: only what needs attention comes between.
      process.env.LOG_LEVEL ||= 'warn'
      return start(readConfig(process.env), output)
    })
  program
    .command('serve')
    .description('serve the three hosts; start the database when none runs for the data folder')
    .option('--test-door', 'an empty platform whose clock stands still, with the door under /test')
    .option(...asJson)
    .action(({ testDoor, ...output }: Output & { testDoor?: boolean }) => {
      const config = readConfig(process.env)
      return testDoor ? serveDoor(config, output) : serve(config, output)
    })
  program
    .command('worker')
    .description('fill, mirror, send and book; any number may run beside each other')
    .option(...asJson)
    .action((output: Output) => work(readConfig(process.env), output))
}

const asJson = ['--json', 'say as JSON that it is ready'] as const

const sayReady = (output: Output, word: string): void => say(output, { ready: word }, `ready ${word}`)

async function start(config: Config, output: Output): Promise<void> {
  const log = openLog(config, 'start')
  const ending = new AbortController()
  const started = startAll(config, log, ending.signal)
  endsWith(log, async () => {
    ending.abort()
    const platform = await started.catch(() => undefined)
    await platform?.close()
  })
  const platform = await started.catch((error: unknown) => {
    // Ctrl-C during the seeding ends it on purpose; the next start carries on.
    if (!ending.signal.aborted) throw error
  })
  if (!platform) return
  if (!output.json) printBanner(config, platform.url)
  sayReady(output, platform.url)
}

async function serve(given: Config, output: Output): Promise<void> {
  const log = openLog(given, 'api')
  await keep(log, given, output, async (config, url) => {
    const api = await serveApi(config, url, log)
    return { word: api.url, close: api.close }
  })
}

async function work(given: Config, output: Output): Promise<void> {
  const log = openLog(given, 'worker')
  await keep(log, given, output, async (config, url, told) => {
    const worker = await runWorker(config, url, log, told?.family)
    return { word: 'worker', close: worker.close }
  })
}

interface Running {
  word: string
  close(): Promise<void>
}

type Run = (config: Config, databaseUrl: string, told: Word | undefined) => Promise<Running>

/** Runs one process on the database it can reach, or on what its parent says, and ends both in order. */
async function keep(log: Logger, config: Config, output: Output, run: Run): Promise<void> {
  const told = await wordOfParent()
  const server = told ? runElsewhere(told.databaseUrl) : await keepServer(config, log)
  const running = await run(told ? toldTo(config, told) : config, server.url, told)
  endsWith(log, async () => {
    await running.close()
    await server.stop()
  })
  announceReady(running.word)
  if (!process.send) sayReady(output, running.word)
}

/** The configuration of a child, with what its parent says. */
const toldTo = (config: Config, { port, metricsPort }: Word): Config => ({
  ...config,
  port,
  ...(config.metrics && metricsPort !== undefined && { metrics: { ...config.metrics, port: metricsPort } }),
})

/** One process for everything, so that each call can answer after all it causes has come to rest. */
async function serveDoor(config: Config, output: Output): Promise<void> {
  const log = openLog(config, 'door')
  // Before anything is made, and before production asks for its secrets.
  if (config.production) throw new ConfigError('the test door does not open in production')
  const server = await provideServer(config, log)
  const door = await startDoorPlatform({
    serverUrl: server.url,
    hosts: config.hosts,
    host: config.host,
    port: config.port,
    production: config.production,
    secrets: loadSecrets(config),
    keyEnvironment: environments(config).keys,
    environment: environments(config).orders,
    pages: pagesOf(config),
    documents: textsOf(config),
    mailer: mailerOf(config),
    log,
  })
  endsWith(log, async () => {
    await door.close()
    await server.stop()
  })
  sayReady(output, door.url)
}
