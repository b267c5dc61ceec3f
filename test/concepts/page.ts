/** The concept pages as the tests read them: the tables under a heading, and the stories between fences. */
import { readFileSync } from 'node:fs'

/** The cells of a row by the heads of their columns. */
export type TableRow = Readonly<Record<string, string>>

const cellsOf = (line: string): string[] =>
  line
    .slice(1, -1)
    .split('|')
    .map((cell) => cell.trim())

export const textOf = (page: string): string => readFileSync(`docs/concepts/${page}.md`, 'utf8')

/** The rows of the tables under a heading. */
export function tablesUnder(page: string, heading: string): TableRow[][] {
  const [, text] = textOf(page).split(`\n## ${heading}\n`)
  const [section = ''] = (text ?? '').split('\n## ')
  const tables = [...section.matchAll(/(?:^\|.*\n)+/gm)].map(([table]) => table.trimEnd().split('\n'))
  if (tables.length === 0) throw new Error(`${page} has no table under "${heading}"`)
  return tables.map(([head = '', , ...rows]) => {
    const names = cellsOf(head)
    return rows.map((row) =>
      Object.fromEntries(cellsOf(row).map((cell, place) => [names[place] ?? '', cell])),
    )
  })
}

/** The rows of the only table under a heading. */
export const tableUnder = (page: string, heading: string): TableRow[] => tablesUnder(page, heading).flat()

/** The code at the beginning of a cell. */
export const codeIn = (cell: string | undefined): string => /^`([^`]+)`/.exec(cell ?? '')?.[1] ?? ''

/** A number as people write it: `1,250`, `$5,000`, `50 %`; a dash is none. */
export const numberIn = (cell: string | undefined): number => Number((cell ?? '').replaceAll(/[$,%\s]/g, ''))

/** The stories of a page. */
export const storiesOf = (page: string): string[] =>
  [...textOf(page).matchAll(/```scenario\n([\s\S]*?)```/g)].map(([, story = '']) => story)

export const pagesWithStories = ['sizing', 'in-step', 'switches'] as const

/** All codes in a text. */
export const codesIn = (text: string): string[] => [...text.matchAll(/`(\w+)`/g)].map(([, code = '']) => code)
