/**
 * The language of the scenarios: one sentence per line, `#` begins a comment, `scenario <title>` begins a story.
 * A sentence is a pattern with slots, `<quantity>`, and parts that may be left out, `[ @ <price>]`. What a slot
 * may hold follows from its name. A line that no pattern fits, or that several fit, is a mistake of the file.
 */

export interface Line {
  readonly file: string
  readonly number: number
  readonly text: string
}

export interface Scenario {
  readonly title: string
  readonly lines: readonly Line[]
}

/** What the slots of a line hold; those of parts left out are undefined. */
export type Given = Readonly<Record<string, string | undefined>>

export interface Sentence<Stage> {
  readonly says: string
  does(stage: Stage, given: Given): Promise<void>
}

const name = String.raw`[A-Za-z@][\w@./-]*`
const number = String.raw`-?[\d,]*\.?\d+`
const slots: Readonly<Record<string, string>> = {
  label: String.raw`[\w-]+`,
  side: 'buy|sell',
  direction: 'long|short',
  time: String.raw`\d{4}-\d\d-\d\d(?:T[\d:.]+Z)?|\+\d+[smhd]`,
  text: '"[^"]*"',
  state: 'pending|working|partially filled|filled|canceled|replaced|pending cancel|rejected|expired',
  terms: '.*?',
  outcome: '.+',
  class: 'CS|FUT|OPT|FOR',
  currency: '[A-Z]{3}',
  word: String.raw`[\w-]+`,
  group: '[A-Za-z]+',
  reason: '[A-Za-z]+',
  ...Object.fromEntries(
    ['person', 'strategy', 'account', 'who', 'symbol', 'native'].map((slot) => [slot, name]),
  ),
}

/** Slots of other names hold numbers. */
const patternOf = (slot: string): string => `(?<${slot}>${slots[slot] ?? number})`

function compile(says: string): RegExp {
  const source = says.replace(/<(\w+)>|\[|\]|\s+|[^\w\s<>[\]]/g, (part, slot: string | undefined) => {
    if (slot !== undefined) return patternOf(slot)
    if (part === '[') return '(?:'
    if (part === ']') return ')?'
    return part.trim() === '' ? String.raw`\s+` : `\\${part}`
  })
  return new RegExp(`^${source}$`)
}

/** Splits a file into its scenarios. Throws when sentences stand before the first title. */
export function readScenarios(file: string, text: string): Scenario[] {
  const scenarios: { title: string; lines: Line[] }[] = []
  for (const [place, raw] of text.split('\n').entries()) {
    const line = { file, number: place + 1, text: raw.replace(/(^|\s)#.*$/, '').trim() }
    if (line.text === '') continue
    const [, title] = /^scenario\s+(.+)$/.exec(line.text) ?? []
    if (title !== undefined) scenarios.push({ title, lines: [] })
    else if (scenarios.length === 0)
      throw new Error(`${file}:${line.number}: a scenario begins with its title`)
    else scenarios.at(-1)?.lines.push(line)
  }
  return scenarios
}

/** A reader of lines for a list of sentences. */
export function createReader<Stage>(
  sentences: readonly Sentence<Stage>[],
): (line: Line) => (stage: Stage) => Promise<void> {
  const compiled = sentences.map((sentence) => ({ sentence, pattern: compile(sentence.says) }))
  return ({ file, number: at, text }) => {
    const fitting = compiled.flatMap(({ sentence, pattern }) => {
      const match = pattern.exec(text)
      return match ? [{ sentence, given: (match.groups ?? {}) as Given }] : []
    })
    const [only, second] = fitting
    if (!only) {
      const known = sentences.map(({ says }) => `  ${says}`).join('\n')
      throw new Error(`${file}:${at}: no sentence reads "${text}"; known are\n${known}`)
    }
    if (second)
      throw new Error(
        `${file}:${at}: "${text}" can be read in two ways: ${only.sentence.says}, ${second.sentence.says}`,
      )
    return async (stage) => {
      try {
        await only.sentence.does(stage, only.given)
      } catch (error) {
        const said = error instanceof Error ? error.message : String(error)
        throw new Error(`${file}:${at}\n  ${text}\n${said}`, { cause: error })
      }
    }
  }
}

/** Throws what a reader of the scenario needs to see when the two differ. */
export function expectSame(expected: string, found: string): void {
  if (expected !== found) throw new Error(`expected: ${expected}\nfound:    ${found}`)
}
