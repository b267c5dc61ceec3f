/**
 * The documents stay true: what they link to, name and list exists, and what is written from code equals it.
 */
import { spawnSync } from 'node:child_process'
import { existsSync, readdirSync, readFileSync } from 'node:fs'
import { dirname, join } from 'node:path'
import { Command } from 'commander'
import { describe, expect, test } from 'vitest'
import { addOperatorCommands } from '../src/bin/operator.ts'
import { addRunCommands } from '../src/bin/run.ts'
import { hostFacts, routesOf } from '../src/contract/hosts.ts'
import { hostNames } from '../src/contract/schema.ts'
import { rows } from '../src/contract/table.ts'
import { skipCodes } from '../src/domain/mirror/skip.ts'
import { handlers } from '../src/operations/index.ts'
import { incidentKinds } from '../src/storage/work/incidents.ts'
import { floorTable, withFloorTable } from './support/floor-table.ts'
import { floors } from './support/floors.ts'

const records = readdirSync('docs/decisions').filter((name) => /^\d/.test(name))
const documents = [
  'README.md',
  'CHANGELOG.md',
  'CONTRIBUTING.md',
  'docs/architecture.md',
  'docs/brokers.md',
  'docs/glossary.md',
  'docs/README.md',
  'docs/operations/runbook.md',
  ...['concepts', 'guides', 'reference'].flatMap((folder) =>
    readdirSync(`docs/${folder}`).map((name) => `docs/${folder}/${name}`),
  ),
  'docs/decisions/README.md',
  ...records.map((name) => `docs/decisions/${name}`),
]
const texts = new Map(documents.map((path) => [path, readFileSync(path, 'utf8')]))
const textOf = (path: string): string => texts.get(path) ?? ''
const readme = textOf('README.md')
/** A text without what aligns its tables. */
const plain = (text: string): string => text.replace(/ +/g, ' ')

const found = (text: string, pattern: RegExp): string[] =>
  [...text.matchAll(pattern)].map(([, group]) => group ?? '')

const program = new Command()
addRunCommands(program)
addOperatorCommands(program)

/** Whether the command line takes an invocation: a command, its part, its options, and all that it cannot do without. */
function isKnown(line: string): boolean {
  const [name = '', ...rest] = line.trim().split(/\s+/)
  const command = program.commands.find((one) => one.name() === name)
  const part = command?.commands.find((one) => one.name() === rest[0])
  const hasParts = (command?.commands.length ?? 0) > 0
  // A command that does something beside its parts answers in JSON as well.
  const isWhole = !hasParts || (rest.length === 0 && command?.options.some(({ long }) => long === '--json'))
  const own = isWhole ? command : part
  const options = own?.options.map(({ long }) => long)
  const given = rest.filter((word) => word.startsWith('--'))
  // A command that is only named, in a sentence, stands without anything behind it.
  const isNamed = rest.length <= (isWhole ? 0 : 1)
  const needed = isNamed ? [] : (own?.options.filter(({ mandatory }) => mandatory) ?? [])
  return (
    own !== undefined &&
    given.every((word) => options?.includes(word)) &&
    needed.every(({ long }) => given.includes(long ?? ''))
  )
}

/** The heading of a page as the address of a link, as GitHub makes it. */
const anchorOf = (heading: string): string =>
  heading
    .toLowerCase()
    .replace(/[^\p{L}\p{N} -]/gu, '')
    .replaceAll(' ', '-')

describe('links and paths', () => {
  test.each(documents)('%s links to what exists', (document) => {
    const broken = found(textOf(document), /\]\(([^)\s]+)\)/g)
      .filter((target) => !/^https?:/.test(target))
      .filter((target) => {
        const [file = '', anchor] = target.split('#')
        const path = file === '' ? document : join(dirname(document), file)
        if (!existsSync(path)) return true
        const headings = anchor === undefined ? [] : found(readFileSync(path, 'utf8'), /^#+ (.+)$/gm)
        return anchor !== undefined && !headings.map(anchorOf).includes(anchor)
      })
    expect(broken).toEqual([])
  })

  test.each(documents)('%s names files that exist', (document) => {
    const named = found(textOf(document), /`((?:src|test|scripts|docs|bench|openapi)\/[^`*\s]*)`/g)
    expect(named.filter((path) => !/N{3}|NAME/.test(path) && !existsSync(path))).toEqual([])
  })

  test('the index of the pages has each of them once, in a line that says what it is for', () => {
    const pages = readdirSync('docs', { recursive: true, encoding: 'utf8' })
      .filter((path) => /\.(md|yml)$/.test(path) && path !== 'README.md')
      // Decisions have a list of their own.
      .filter((path) => !/^decisions\/\d/.test(path))
    const listed = found(textOf('docs/README.md'), /^- \[[^\]]+\]\(([^)]+)\)[:,] .+$/gm)
    expect(listed.filter((path) => !path.startsWith('../')).sort()).toEqual(pages.sort())
  })

  test('every decision has a number of its own, its three parts, and a place in the list', () => {
    const numbers = records.map((name) => name.slice(0, 4))
    expect(numbers).toEqual([...new Set(numbers)].sort())
    const list = plain(textOf('docs/decisions/README.md'))
    for (const name of records) {
      const text = textOf(`docs/decisions/${name}`)
      const [title] = found(text, /^# (.+)$/gm)
      expect(found(text, /^## (.+)$/gm), name).toEqual(['Context', 'Decision', 'Consequence'])
      expect(list).toContain(`| ${name.slice(0, 4)} | [${title?.slice(5)}](${name}) |`)
    }
  })
})

describe('what is written from code', () => {
  test('the table of floors is the one that imports are held against', () => {
    const document = textOf('docs/architecture.md')
    expect(document).toBe(withFloorTable(document))
    for (const name of Object.keys(floors)) expect(plain(floorTable())).toContain(`| \`${name}/\` |`)
  })

  test('the environment is the one that is read', () => {
    const table = readme.slice(readme.indexOf('## Environment'), readme.indexOf('## What is not there yet'))
    const listed = found(table, /^\|([^|]*`[^|]*)\|/gm).flatMap((cell) => found(cell, /`([A-Z_]+)`/g))
    const read = found(readFileSync('src/bin/config.ts', 'utf8'), /env\.([A-Z_]+)/g)
    expect(listed.sort()).toEqual([...new Set(read)].sort())
  })

  test('how much is logged, which is less where a person watches', () => {
    const [usual] = found(readFileSync('src/bin/config.ts', 'utf8'), /LOG_LEVEL \|\| '(\w+)'/g)
    const [watched] = found(readFileSync('src/bin/run.ts', 'utf8'), /LOG_LEVEL \|\|= '(\w+)'/g)
    expect(plain(readme)).toContain(`| \`LOG_LEVEL\` | \`${usual}\`, of \`npm start\` \`${watched}\` |`)
  })

  test('hosts and their reference pages', () => {
    for (const host of hostNames) {
      const prefix = host.toLowerCase()
      expect(plain(readme)).toContain(`| ${host} |`)
      expect(readme).toContain(`\`/reference/${prefix}\``)
      expect(readme).toContain(`\`/openapi/${prefix}.json\``)
      expect(existsSync(`openapi/${hostFacts[host].file}.json`)).toBe(true)
    }
  })

  test('the operations that the changes call built have handlers, and no other has one', () => {
    const [built = ''] = found(textOf('CHANGELOG.md').replace(/\s+/g, ' '), /Built: ([^.]+)\./g)
    expect(built.split(/, /).sort()).toEqual(Object.keys(handlers).sort())
    const names = Object.entries(rows).map(([name, row]) => row.operation ?? name)
    expect(textOf('CHANGELOG.md')).toContain(`${new Set(names).size} operations in ${names.length} rows`)
  })

  test('the calls to paste are routes of the general host', () => {
    const routes = new Set(routesOf('Gen', 'native').map(({ path }) => path))
    const calls = found(readme, /\$BASE(\/[A-Za-z/]+)/g)
    expect(calls).toHaveLength(3)
    expect(calls.filter((path) => !routes.has(path))).toEqual([])
  })
})

describe('commands', () => {
  const scripts = JSON.parse(readFileSync('package.json', 'utf8')).scripts as Record<string, string>

  test.each(['README.md', 'CONTRIBUTING.md', 'docs/architecture.md'])('npm knows those of %s', (document) => {
    const named = found(textOf(document), /npm (?:run )?([a-z]+)\b/g).filter((name) => name !== 'needs')
    expect(named.filter((name) => scripts[name] === undefined)).toEqual([])
    for (const name of new Set(named)) {
      const file = scripts[name]?.split(' ').find((word) => /\.(ts|mjs)$/.test(word)) ?? ''
      expect(existsSync(file), `${name} runs ${file}`).toBe(true)
    }
  })

  test('the command line knows those of the documents', () => {
    const named = documents.flatMap((path) =>
      found(textOf(path), /(?:npm run (?:-s )?cli --|`lockstep) ([a-z][^`\n]*)/g),
    )
    expect(named.length).toBeGreaterThan(10)
    expect(named.filter((line) => !isKnown(line))).toEqual([])
  })

  test('the changes list the commands that the program shows', () => {
    const help = spawnSync(process.execPath, ['scripts/lockstep.mjs', '--help'], { encoding: 'utf8' })
    const shown = found(help.stdout.slice(help.stdout.indexOf('Commands:')), /^ {2}([a-z]+)\b/gm)
    const [listed = ''] = found(
      plain(textOf('CHANGELOG.md').replaceAll('\n', ' ')),
      /- Command line: ([^.]+)\./g,
    )
    expect(listed.split(', ').sort()).toEqual(shown.filter((name) => name !== 'help').sort())
  })
})

test('what the guides say is sent, read or reported has these names', () => {
  const interfaces = readdirSync('openapi')
    .map((name) => readFileSync(`openapi/${name}`, 'utf8'))
    .join()
  const walks = documents.filter((path) => path.startsWith('docs/guides/'))
  const guides = ['README.md', 'docs/brokers.md', 'docs/operations/runbook.md', ...walks].map(textOf).join()
  const named = found(guides, /`([A-Z][a-z]+[A-Z][A-Za-z]*)`/g)
  const isReal = (name: string) =>
    interfaces.includes(`"${name}"`) || [...incidentKinds, ...skipCodes].some((kind) => kind === name)
  expect(named).toContain('AccountPassword')
  expect(named.filter((name) => !isReal(name))).toEqual([])
})

test('what an operator has to look at is explained, every kind of it', () => {
  const advice = ['docs/operations/runbook.md', 'docs/reference/fix.md', 'docs/brokers.md'].map(textOf).join()
  expect(incidentKinds.filter((kind) => !advice.includes(`\`${kind}\``))).toEqual([])
})
