/** The operator's tools for files: prices, the index and what companies announce come in, listings go out. */
import { readFileSync } from 'node:fs'
import type { Command } from 'commander'
import { listings } from '../contract/index.ts'
import { instrumentColumns } from '../execution/instrument-files.ts'
import { type IndexClose, readIndexCloses } from '../execution/market/index-file.ts'
import { recordingColumns } from '../execution/market/replay.ts'
import { saveIndexCloses } from '../storage/strategies/strategy-statistics.ts'
import { callerOf, openRunner } from './asking.ts'
import { ConfigError } from './config.ts'
import { exportListing, writeExport } from './export.ts'
import { fileWords } from './file-words.ts'
import { importColumns, importFile, importInstruments, importKinds } from './import.ts'
import { openLog } from './log.ts'
import { type Played, replayFile } from './replay.ts'
import { firstOf, type Output, readId, safeLine, say, tool, withDatabase, withPlatform } from './tool.ts'

/** Adds index, replay, import and export. */
export function addDataCommands(program: Command): void {
  tool(
    program,
    'index <file>',
    'enter closes of the S&P 500 from a CSV with the columns date and close',
  ).action((file: string, output: Output) =>
    withDatabase(async (db) => {
      const closes = closesOf(file)
      await saveIndexCloses(db.write, closes)
      say(output, { entered: closes.length }, `${closes.length} closes were entered.`)
    }),
  )
  addReplayCommand(tool(program, 'replay <file>', `play a CSV into the market: ${recordingColumns}`))
  addImportCommands(program.command('import').description('enter what companies and exchanges announce'))
  addExportCommand(
    tool(program, 'export <listing> [parameters...]', 'write a listing of the interface as CSV'),
  )
}

function closesOf(file: string): IndexClose[] {
  try {
    return readIndexCloses(readFileSync(file))
  } catch (error) {
    throw new ConfigError(safeLine(`${file}: ${fileWords(error)}`))
  }
}

function readSpeed(text: string): number {
  if (!/^\d{1,6}(\.\d{1,6})?$/.test(text)) throw new ConfigError('--speed is a number, 0 or more')
  return Number(text)
}

function addReplayCommand(command: Command): void {
  command
    .option('--speed <factor>', 'recorded time per real time; 0: as fast as it is booked', readSpeed, 1)
    .action((file: string, options: Output & { speed: number }) =>
      withPlatform(async (db, config) => {
        const speed = options.speed === 0 ? Number.POSITIVE_INFINITY : options.speed
        const played = await replayFile(config, db, openLog(config, 'replay'), { file, speed })
        say(options, { played: file, ...played }, [wordsOf(file, played)])
      }),
    )
}

function wordsOf(file: string, { rows, unknownSymbols }: Played): string {
  if (rows === 0) return `${file}: nothing to play. It holds no row, or all of them have been played before.`
  const done = `${file}: ${rows} rows have been played.`
  if (unknownSymbols.length === 0) return done
  return `${done} Those of instruments that are not here moved nothing: ${firstOf(unknownSymbols, 10)}.`
}

interface ExportOptions {
  host?: string
  person?: number
  out?: string
}

function addExportCommand(command: Command): void {
  command
    .addHelpText(
      'after',
      `\nParameters are those of the operation: Name=value.\nListings: ${listings.join(', ')}`,
    )
    .option('--host <host>', 'Gen, Geo or WL; the first that offers the listing')
    .option('--person <id>', 'with the rights of this person; otherwise everything is seen', readId)
    .option('--out <file>', 'a file, readable by its owner alone, instead of standard output')
    .action((listing: string, words: string[], options: Output & ExportOptions) => {
      // What would be told in JSON is where the file is.
      if (options.json && options.out === undefined)
        throw new ConfigError('--json needs --out: a listing is CSV')
      return withPlatform(async (db, config) => {
        const run = await openRunner(db, config)
        const caller = await callerOf(db.read, options.person)
        const pages = exportListing(run, { listing, words, host: options.host, caller })
        await writeExport(pages, options.out)
        if (options.out !== undefined)
          say(options, { listing, file: options.out }, `${listing} is in ${options.out}.`)
      })
    })
}

/** What is known already changes nothing, so a file may be imported again. */
function addImportCommands(imports: Command): void {
  tool(imports, 'instruments <file>', `a CSV with ${instrumentColumns}`).action(
    (file: string, output: Output) =>
      withDatabase(async (db) => {
        const count = await importInstruments(db, file)
        say(output, count, `${count.added} instruments are new, ${count.known} were known.`)
      }),
  )
  for (const [word, kind] of Object.entries(importKinds)) {
    tool(imports, `${word} <file>`, `a CSV with the columns ${importColumns(kind)}`).action(
      (file: string, output: Output) =>
        withPlatform(async (db) => {
          const count = await importFile(db, kind, file)
          say(output, count, `${count.added} ${word} are new, ${count.known} were known.`)
        }),
    )
  }
}
