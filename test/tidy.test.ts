/**
 * The house stays as drawn: imports go down the floors and never in a circle, files and functions stay
 * readable and say what they do, nothing is left for later, nothing is exported or installed that nobody uses.
 */
import { spawnSync } from 'node:child_process'
import { readFileSync } from 'node:fs'
import { builtinModules } from 'node:module'
import { dirname, join, normalize } from 'node:path'
import ts from 'typescript'
import { describe, expect, test } from 'vitest'
import manifest from '../package.json' with { type: 'json' }
import { groupBy } from '../src/domain/group.ts'
import { listFiles } from './support/files.ts'
import { floors } from './support/floors.ts'

const linesMax = 400
const functionLinesMax = 50

const files = listFiles(['src', 'test', 'bench', 'scripts']).filter((path) => /\.(ts|mjs)$/.test(path))
const sources = new Map(files.map((path) => [path, readFileSync(path, 'utf8')]))
const product = files.filter((path) => path.startsWith('src/') && !path.endsWith('.test.ts'))

const importsOf = (path: string): string[] =>
  ts.preProcessFile(sources.get(path) ?? '', true, true).importedFiles.map((entry) => entry.fileName)

const packageOf = (specifier: string): string => {
  if (specifier.startsWith('node:') || builtinModules.includes(specifier)) return 'node:'
  return specifier
    .split('/')
    .slice(0, specifier.startsWith('@') ? 2 : 1)
    .join('/')
}

/** The subject that a file belongs to, however deep: a folder of a floor, or the floor itself where it is in none. */
const subjectOf = (path: string): string => dirname(path).split('/').slice(0, 3).join('/')

const resolved = (from: string, specifier: string): string => normalize(join(dirname(from), specifier))

const treeOf = (path: string): ts.SourceFile =>
  ts.createSourceFile(path, sources.get(path) ?? '', ts.ScriptTarget.Latest, true)

/** A node and all below it. */
function nodesOf(tree: ts.Node): ts.Node[] {
  const found: ts.Node[] = []
  const visit = (node: ts.Node): void => {
    found.push(node)
    ts.forEachChild(node, visit)
  }
  visit(tree)
  return found
}

/** The line that a place in a file is in, counted from 0. */
const lineOf = (tree: ts.SourceFile, place: number): number => tree.getLineAndCharacterOfPosition(place).line

/** Functions longer than the limit. A function that only returns one literal is a table and may be long. */
function longFunctions(path: string): string[] {
  const tree = treeOf(path)
  const found: string[] = []
  for (const node of nodesOf(tree)) {
    if (!ts.isFunctionLike(node) || !('body' in node && node.body)) continue
    const start = lineOf(tree, node.getStart())
    const length = lineOf(tree, node.end) - start + 1
    if (length > functionLinesMax) found.push(`${path}:${start + 1} has ${length} lines`)
  }
  return found
}

/** Object literals that are spread into another one, of whose members the compiler then misses the stray ones. */
function spreadLiterals(path: string): string[] {
  const tree = treeOf(path)
  const bare = (node: ts.Expression): ts.Expression =>
    ts.isParenthesizedExpression(node) || ts.isAsExpression(node) || ts.isSatisfiesExpression(node)
      ? bare(node.expression)
      : node
  return nodesOf(tree)
    .filter(ts.isSpreadAssignment)
    .filter(({ expression }) => ts.isObjectLiteralExpression(bare(expression)))
    .map((node) => `${path}:${lineOf(tree, node.getStart()) + 1} spreads a literal`)
}

/** Functions and classes that others may call, and that do not say what they do. Of overloads one has to. */
function undocumented(path: string): string[] {
  const tree = treeOf(path)
  const callable = (
    node: ts.Node,
  ): node is ts.FunctionDeclaration | ts.ClassDeclaration | ts.VariableStatement =>
    ts.isFunctionDeclaration(node) ||
    ts.isClassDeclaration(node) ||
    (ts.isVariableStatement(node) &&
      node.declarationList.declarations.some(
        ({ initializer }) => initializer && ts.isArrowFunction(initializer),
      ))
  const nameOf = (node: ts.FunctionDeclaration | ts.ClassDeclaration | ts.VariableStatement): string =>
    (ts.isVariableStatement(node) ? node.declarationList.declarations[0] : node)?.name?.getText() ?? 'default'
  const exported = tree.statements
    .filter(callable)
    .filter(({ modifiers }) => modifiers?.some(({ kind }) => kind === ts.SyntaxKind.ExportKeyword))
  const said = new Set(exported.filter((node) => ts.getJSDocCommentsAndTags(node).length > 0).map(nameOf))
  return exported.filter((node) => !said.has(nameOf(node))).map((node) => `${path}: ${nameOf(node)}`)
}

/** The circles that a walk along the arrows meets. */
function circles(arrows: readonly (readonly [string, string])[]): string[] {
  const next = groupBy(arrows, ([from]) => from)
  const done = new Set<string>()
  const found: string[] = []
  const walk = (place: string, trail: string[]): void => {
    if (trail.includes(place)) found.push([...trail.slice(trail.indexOf(place)), place].join(' -> '))
    if (done.has(place) || trail.includes(place)) return
    for (const [, to] of next.get(place) ?? []) walk(to, [...trail, place])
    done.add(place)
  }
  for (const place of next.keys()) walk(place, [])
  return found
}

describe('the house', () => {
  test('imports go down the floors only', () => {
    const wrong = product.flatMap((path) => {
      const floor = path.split('/')[1] ?? ''
      const rule = floors[floor]
      if (!rule) return [`${path}: no floor named ${floor}`]
      return importsOf(path).flatMap((specifier) => {
        if (!specifier.startsWith('.')) {
          return rule.packages.includes(packageOf(specifier)) ? [] : [`${path} imports ${specifier}`]
        }
        const target = resolved(path, specifier).split('/')[1] ?? ''
        return target === floor || rule.floors.includes(target) ? [] : [`${path} imports ${specifier}`]
      })
    })
    expect(wrong).toEqual([])
  })

  test('no import runs in a circle, from file to file or from folder to folder', () => {
    const imports = product.flatMap((path) =>
      importsOf(path)
        .filter((specifier) => specifier.startsWith('.'))
        .map((specifier): [string, string] => [path, resolved(path, specifier)]),
    )
    const folders = imports.map(([from, to]): [string, string] => [subjectOf(from), subjectOf(to)])
    const isBelow = ([from, to]: [string, string]): boolean =>
      `${from}/`.startsWith(`${to}/`) || `${to}/`.startsWith(`${from}/`)
    expect([...circles(imports), ...circles(folders.filter((pair) => !isBelow(pair)))]).toEqual([])
  })

  test('only storage names tables, and the door for what it checks and empties', () => {
    const tagged = /(?:fragment|rows|one|maybe|run)(?:<[^`]*>)?`([^`]*)`/g
    const naming = product
      .filter((path) => !/^src\/(storage|door)\//.test(path))
      .filter((path) =>
        [...(sources.get(path) ?? '').matchAll(tagged)].some(([, text]) =>
          /\b(from|join|into|update) +[a-z_]+/.test(text ?? ''),
        ),
      )
    expect(naming).toEqual([])
  })

  test('files and functions stay readable', () => {
    const isTable = (path: string): boolean => path.includes('/tables/')
    const long = files
      .filter((path) => !isTable(path))
      .filter((path) => (sources.get(path)?.split('\n').length ?? 0) - 1 > linesMax)
    expect(long).toEqual([])
    expect(product.filter((path) => !isTable(path)).flatMap(longFunctions)).toEqual([])
  })

  test('a literal has its members written into it', () => {
    expect(files.flatMap(spreadLiterals)).toEqual([])
  })

  test('what others may call says what it does', () => {
    expect(product.flatMap(undocumented)).toEqual([])
  })

  test('the domain knows no clock, no chance and no waiting', () => {
    const banned = /\b(Date\.now|new Date\(\)|Math\.random|await|console\.)/
    const code = (path: string): string =>
      (sources.get(path) ?? '').replace(/\/\*[\s\S]*?\*\//g, '').replace(/\/\/.*$/gm, '')
    expect(product.filter((path) => path.startsWith('src/domain/') && banned.test(code(path)))).toEqual([])
  })

  test('nothing is left for later', () => {
    const mark = new RegExp(`\\b(${['TO', 'DO'].join('')}|FIX${'ME'}|XX${'X'})\\b`)
    expect(files.filter((path) => mark.test(sources.get(path) ?? ''))).toEqual([])
  })

  test('no export, file or dependency is unused', () => {
    const knip = spawnSync('npx', ['knip', '--no-progress'], { encoding: 'utf8' })
    expect(knip.stdout).toBe('')
    expect(knip.status).toBe(0)
  }, 60_000)
})

describe('what is installed with the product', () => {
  const { packages } = JSON.parse(readFileSync('package-lock.json', 'utf8')) as {
    packages: Record<string, { license?: string; integrity?: string; dev?: boolean }>
  }
  const shipped = Object.entries(packages).filter(([path, { dev }]) => path !== '' && !dev)
  const permissive = /^(MIT|MIT-0|ISC|0BSD|BSD-[23]-Clause|Apache-2\.0|BlueOak-1\.0\.0|Unlicense)$/

  test('is listed with its licence', () => {
    const rows = readFileSync('docs/reference/dependencies.md', 'utf8').matchAll(/^\| `(\S+)` +\| (\S+)/gm)
    const listed = [...rows].map(([, name, licence]) => `${name}: ${licence}`)
    const { dependencies, optionalDependencies } = manifest
    const names = [...Object.keys(dependencies), ...Object.keys(optionalDependencies)]
    expect(listed).toEqual(names.map((name) => `${name}: ${packages[`node_modules/${name}`]?.license}`))
  })

  test('asks for no more than its notice, as does what comes with it', () => {
    const others = shipped.filter(([, { license }]) => !permissive.test(license ?? ''))
    expect(others.map(([path, { license }]) => `${path}: ${license}`)).toEqual([])
  })

  test('is known by its content, and in one version', () => {
    const unknown = shipped.filter(([, { integrity }]) => !integrity?.startsWith('sha512-'))
    expect(unknown.map(([path]) => path)).toEqual([])
    const { dependencies, optionalDependencies, devDependencies } = manifest
    const ranges = Object.entries({ ...dependencies, ...optionalDependencies, ...devDependencies })
    expect(ranges.filter(([, range]) => !/^\d+\.\d+\.\d+(-[\w.]+)?$/.test(range))).toEqual([])
  })
})
