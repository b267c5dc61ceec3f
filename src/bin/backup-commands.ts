/** A copy of the whole platform while it is at work, which can be started in its place. */
import { existsSync, readdirSync, realpathSync } from 'node:fs'
import { rm } from 'node:fs/promises'
import { basename, dirname, join, relative, resolve } from 'node:path'
import type { Command } from 'commander'
import { copyFolder, copyLog, copyServerFolder, putInPlace } from '../postgres/backup.ts'
import { noteContents } from '../postgres/contents.ts'
import { type Copying, leadBackup } from '../storage/operating/backup.ts'
import { type Config, ConfigError, readConfig } from './config.ts'
import { addressName, checkPlatform, reachServer, serverName, serverOf } from './database.ts'
import { makeFolder } from './folder.ts'
import { openLog } from './log.ts'
import { goOnFromCopy, markCopy } from './platform-copies.ts'
import { type Output, say, tool, withPlatform } from './tool.ts'

/** Adds backup and restored. */
export function addBackupCommands(program: Command): void {
  tool(
    program,
    'backup <folder>',
    'copy the platform, at work or not, to a folder it can be started from',
  ).action(async (folder: string, output: Output) => {
    const config = readConfig(process.env)
    const target = resolve(folder)
    checkPlaces(config, target)
    await backUp(config, target)
    say(output, { folder: target }, `${target} is a copy of ${config.dataDir}. DATA_DIR=${target} starts it.`)
  })
  tool(
    program,
    'restored',
    'the database was put back to an older state by other means: numbers given since are not given again',
  ).action((output: Output) =>
    withPlatform(async (db) => {
      await goOnFromCopy(db)
      say(output, { restored: true }, 'No number that was given since is given again.')
    }),
  )
}

/** Throws ConfigError where there is nothing to copy, or no place for it. */
function checkPlaces({ databaseUrl, dataDir }: Config, target: string): void {
  if (databaseUrl !== undefined)
    throw new ConfigError('the database behind DATABASE_URL is backed up by the tools of its server')
  checkPlatform(dataDir)
  const [from, to] = [placeOf(dataDir), placeOf(target)]
  // What is left of a copy that was cut short is removed, whatever is in it.
  if (isWithin(from, to) || isWithin(from, unfinishedOf(to)) || isWithin(unfinishedOf(to), from))
    throw new ConfigError(`${target} is inside of what is copied`)
  if (existsSync(target) && readdirSync(target).length > 0)
    throw new ConfigError(`${target} is not empty: each copy has a folder of its own`)
}

const isWithin = (folder: string, path: string): boolean => !/^\.\.(\/|$)/.test(relative(folder, path))

/** Where a path leads, which need not be there yet. */
const placeOf = (path: string): string =>
  existsSync(path) ? realpathSync(path) : join(placeOf(dirname(path)), basename(path))

/** The copy has another name until it is whole. */
const unfinishedOf = (target: string): string => `${target}.unfinished`

async function backUp(config: Config, target: string): Promise<void> {
  const server = await reachServer(config, openLog({ ...config, logLevel: 'warn' }, 'cli'))
  const unfinished = unfinishedOf(target)
  // Where one file could not be written, others are just being made.
  const clear = () => rm(unfinished, { recursive: true, force: true, maxRetries: 5 })
  try {
    await leadBackup(server.url, async (copying) => {
      await clear()
      try {
        makeFolder(dirname(target))
        await copyPlatform(copying, config.dataDir, unfinished)
        await noteContents(serverOf(unfinished), [await markCopy(unfinished)])
        await putInPlace(unfinished, target)
      } finally {
        await clear()
      }
    })
  } finally {
    await server.stop()
  }
}

/** The server's folder is copied by itself; where it answers is of this run alone. */
const left = new Set([serverName, addressName])

/** What lies beside the database comes first: signed heads must not tell of entries that are not in the copy yet. */
async function copyPlatform(server: Copying, from: string, to: string): Promise<void> {
  await copyFolder(from, to, (path) => (left.has(path) ? 'leave' : 'copy'))
  await server.begin()
  await copyServerFolder(serverOf(from), serverOf(to))
  await copyLog(serverOf(from), serverOf(to), await server.end())
}
