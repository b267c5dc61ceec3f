/**
 * A listing as CSV: the product's own operation, asked page after page by the operator or in the name of a
 * person, with that person's rights. Only one page is held at a time.
 */
import { randomUUID } from 'node:crypto'
import {
  accessSync,
  chmodSync,
  constants,
  copyFileSync,
  createWriteStream,
  existsSync,
  lstatSync,
  openSync,
  realpathSync,
  renameSync,
  rmSync,
  statSync,
} from 'node:fs'
import { open } from 'node:fs/promises'
import { basename, dirname, join } from 'node:path'
import { Readable } from 'node:stream'
import { pipeline } from 'node:stream/promises'
import {
  type CompiledRow,
  compileRow,
  csvFormOf,
  listings,
  type OperationName,
  textOf,
} from '../contract/index.ts'
import type { Caller } from '../operations/context.ts'
import type { Run } from '../operations/run.ts'
import { parameterTexts, refusal, routeOf } from './asking.ts'
import { ConfigError } from './config.ts'
import { fileWords, isOfSystem } from './file-words.ts'

export interface ExportOrder {
  /** The operation's name. */
  readonly listing: string
  /** Its parameters, each as `Name=value`; a list may be repeated. */
  readonly words: readonly string[]
  /** The first host that offers it where none is named. */
  readonly host?: string | undefined
  readonly caller: Caller
}

/** The header, then the lines of each page. Throws a ConfigError with the reason when the listing is refused. */
export async function* exportListing(
  run: Run,
  { listing, words, host, caller }: ExportOrder,
): AsyncGenerator<string> {
  if (!listings.includes(listing as OperationName))
    throw new ConfigError(`there is no listing ${listing}; there are ${listings.join(', ')}`)
  const { operation, row, version, ...at } = routeOf(listing, host)
  const audience = { host: at.host, dialect: 'native' as const }
  const form = csvFormOf(row, audience)
  const compiled: CompiledRow = {
    ...compileRow(row, at.host, 'native', version),
    // The cursor of the next page goes before the lines, on a line of its own.
    writeAnswer: (answer) =>
      'bare' in answer ? '' : `${answer.links?.next ?? ''}\n${form.lines(answer.results)}`,
  }
  const input = compiled.readInput(parameterTexts(words))
  if ('faults' in input) throw refusal(listing, input.faults)
  const from = { requestId: 'export', origin: 'http://localhost' }
  let Cursor = ''
  do {
    const params = Cursor === '' ? input.params : { ...input.params, Cursor }
    const reply = await run({ operation, compiled, params, caller, ...audience, ...from })
    const body = textOf(reply.body)
    if (reply.status !== 200) throw refusal(listing, JSON.parse(body).ResponseStatus.Errors)
    const end = body.indexOf('\n')
    const lines = body.slice(end + 1)
    yield Cursor === '' ? form.header + lines : lines
    Cursor = body.slice(0, end)
  } while (Cursor !== '')
}

/** Writes an export to a file that its owner alone can read, or to standard output. */
export async function writeExport(pages: AsyncGenerator<string>, file: string | undefined): Promise<void> {
  if (file !== undefined) return writeFile(pages, file)
  await pipeline(Readable.from(pages), process.stdout, { end: false }).catch(
    (error: NodeJS.ErrnoException) => {
      // Whoever reads our output has seen enough.
      if (error.code !== 'EPIPE') throw error
    },
  )
}

/** Throws a ConfigError where the file cannot be written. */
async function writeFile(pages: AsyncGenerator<string>, file: string): Promise<void> {
  const first = await pages.next()
  const all = async function* () {
    yield first.value ?? ''
    yield* pages
  }
  try {
    await (isOurs(file) ? replaceFile(all(), file) : writeInPlace(all(), file))
  } catch (error) {
    throw isOfSystem(error) ? new ConfigError(`${file} cannot be written: ${fileWords(error)}`) : error
  }
}

async function writeInPlace(pages: AsyncGenerator<string>, file: string): Promise<void> {
  const target = await open(file, 'w', 0o600)
  // A file that was there before keeps its rights unless it is told otherwise; a device is not ours to change.
  if ((await target.stat()).isFile()) await target.chmod(0o600)
  await pipeline(Readable.from(pages), target.createWriteStream())
}

/** A device, a pipe or a link to nothing yet is written where it is; a folder is refused there. */
function isOurs(file: string): boolean {
  const found = statSync(file, { throwIfNoEntry: false })
  if (found === undefined) return lstatSync(file, { throwIfNoEntry: false }) === undefined
  return found.isFile() && takesFiles(dirname(realpathSync(file)))
}

/** Beside a file that may be written there may be no room for another. */
function takesFiles(folder: string): boolean {
  try {
    accessSync(folder, constants.W_OK)
    return true
  } catch {
    return false
  }
}

/**
 * An export that is cut short would look like a whole one, and two of one name would write into each other: it has its
 * name when it is whole, and until then what had the name before stays.
 */
async function replaceFile(pages: AsyncGenerator<string>, file: string): Promise<void> {
  const target = existsSync(file) ? realpathSync(file) : file
  // Of a long name a part: with ours behind it, it would be too long.
  const name = `${basename(target).slice(0, 40)}.${randomUUID()}.unfinished`
  const unfinished = join(dirname(target), name)
  const clear = (): void => rmSync(unfinished, { force: true })
  // Also when the process is told to end in between.
  process.once('exit', clear)
  try {
    // Opened before anything can end: a stream that opens it by itself may do so after it was cleared away.
    const fd = openSync(unfinished, 'wx', 0o600)
    await pipeline(Readable.from(pages), createWriteStream(unfinished, { fd, flush: true }))
    giveName(unfinished, target)
  } finally {
    clear()
    process.removeListener('exit', clear)
  }
}

/** A file that is mounted by itself takes no other's place: it is written over. */
function giveName(unfinished: string, target: string): void {
  try {
    renameSync(unfinished, target)
  } catch (error) {
    if (!isOfSystem(error) || !isFixed.has(error.code ?? '') || !existsSync(target)) throw error
    chmodSync(target, 0o600)
    copyFileSync(unfinished, target)
  }
}

const isFixed: ReadonlySet<string> = new Set(['EBUSY', 'EXDEV', 'EPERM', 'EACCES'])
