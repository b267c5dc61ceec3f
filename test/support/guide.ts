/**
 * A guide as its reader walks it: its shell blocks one after the other in one shell, and behind a block the answer that
 * the guide shows. In an answer `…` stands for anything; an object shows some of its members, a list that ends
 * with `…` some of its rows.
 */
import { spawn } from 'node:child_process'
import { once } from 'node:events'
import { mkdtempSync, readFileSync, rmSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { createInterface } from 'node:readline'

export interface Step {
  /** What is pasted. */
  shell: string
  /** What the guide shows behind it, and in which form. */
  shown?: { form: 'json' | 'text'; text: string }
  /** Where it is, as `page:line`. */
  place: string
}

const any = '…'

/** The steps of a guide. Throws on an answer that stands behind no call. */
export function stepsOf(path: string): Step[] {
  const text = readFileSync(path, 'utf8')
  const steps: Step[] = []
  for (const block of text.matchAll(/^```(sh|json|text)\n(.*?)^```$/gms)) {
    const [, form, content = ''] = block
    const place = `${path}:${text.slice(0, block.index).split('\n').length}`
    const last = steps.at(-1)
    if (form === 'sh') steps.push({ shell: content, place })
    else if (!last || last.shown) throw new Error(`${place} shows an answer to no call`)
    else last.shown = { form: form === 'json' ? 'json' : 'text', text: content }
  }
  return steps
}

/** Whether a step only reads, so that it may be asked again until what was ordered has been done. */
export const isRead = ({ shell }: Step): boolean =>
  shell.split('\n').every((line) => line === '' || /^((BASE=\S+ )?ask GET |curl -s http)/.test(line))

/** What an answer lacks of what is shown, or a refusal where nothing is; undefined where all is well. */
export function lackOf({ shown }: Step, output: string): string | undefined {
  if (!shown) return /^lockstep: |"ErrorCode":"[45]\d\d"|^\w*Error\b/m.test(output) ? output : undefined
  if (shown.form === 'text') {
    const absent = shown.text.split('\n').filter((line) => !patternOf(line).test(output))
    return absent.length > 0 ? `${absent.join('\n')}\nis not in\n${output}` : undefined
  }
  const answer = output
    .split('\n')
    .filter((line) => /^[[{]|^(true|false)$/.test(line))
    .at(-1)
  const isThere = answer !== undefined && shows(JSON.parse(answer), JSON.parse(shown.text))
  return isThere ? undefined : `${shown.text}\nis not in\n${output}`
}

/** A list that is shown is that of the answer's envelope. */
function shows(answer: unknown, shown: unknown): boolean {
  const { Results } = (answer ?? {}) as { Results?: unknown }
  return contains(Array.isArray(shown) ? (Results ?? answer) : answer, shown)
}

/** A line, anywhere in what was said. */
const patternOf = (line: string): RegExp =>
  new RegExp(
    line
      .split(any)
      .map((part) => part.replace(/[\\^$.*+?()[\]{}|]/g, '\\$&'))
      .join('.*'),
  )

/** Rows may be in any order: at the same moment one may come before the other or behind it. */
function contains(answer: unknown, shown: unknown): boolean {
  if (shown === any) return answer !== undefined && answer !== null
  if (Array.isArray(shown)) {
    const hasMore = shown.length > 1 && shown.at(-1) === any && typeof shown[0] === 'object'
    const rows = hasMore ? shown.slice(0, -1) : shown
    return (
      Array.isArray(answer) &&
      (hasMore ? answer.length >= rows.length : answer.length === rows.length) &&
      rows.every((row) => answer.some((one) => contains(one, row)))
    )
  }
  if (typeof shown !== 'object' || shown === null) return answer === shown
  if (typeof answer !== 'object' || answer === null) return false
  const members = answer as Record<string, unknown>
  return Object.entries(shown).every(([name, value]) => contains(members[name], value))
}

export interface Shell {
  /** Runs what is pasted; answers what it said on both its outputs. */
  paste(text: string): Promise<string>
  close(): Promise<void>
}

/** A shell in this folder, with a home of its own that goes with it. Its prompt is a line that nothing else says. */
export function openShell(env: NodeJS.ProcessEnv): Shell {
  const folder = mkdtempSync(join(tmpdir(), 'lockstep-guide-'))
  const file = join(folder, 'pasted.sh')
  const child = spawn('bash', {
    // What is asked is on this machine, where a proxy of the environment does not lead.
    env: { ...process.env, ...env, HOME: folder, no_proxy: '*' },
    stdio: ['pipe', 'pipe', 'inherit'],
  })
  const prompt = '\u001e'
  const lines = createInterface(child.stdout)
  child.stdin.write('exec 2>&1\n')
  return {
    async paste(text) {
      writeFileSync(file, text)
      const said: string[] = []
      const hear = (line: string) => said.push(line)
      lines.on('line', hear)
      // From a file, so that what is run finds nothing to read but what is meant for it.
      child.stdin.write(`. '${file}' < /dev/null\nprintf '\\n${prompt}\\n'\n`)
      while (said.at(-1) !== prompt) await once(lines, 'line')
      lines.off('line', hear)
      return said.slice(0, -1).join('\n')
    },
    async close() {
      child.stdin.end()
      await once(child, 'exit')
      rmSync(folder, { recursive: true })
    },
  }
}
