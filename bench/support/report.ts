/** What a benchmark says: figures, and ratios between figures of one run. A ratio is what counts. */
import { mkdirSync, writeFileSync } from 'node:fs'
import { cpus, totalmem } from 'node:os'
import type { Cost } from './profile.ts'

export interface Figure {
  name: string
  unit: string
  /** Median of the rounds. */
  value: number
  /** Every round, in order. */
  rounds: number[]
}

export interface Ratio {
  name: string
  value: number
  /** What the product must reach; absent where nothing was promised. */
  target?: { atLeast: number } | { atMost: number }
}

export interface Result {
  figures: Figure[]
  ratios: Ratio[]
  /** The costliest functions by their own time, where the run was profiled. */
  costs?: Cost[]
}

export interface Bench {
  name: string
  run(): Promise<Result>
}

export const median = (values: readonly number[]): number => {
  const sorted = [...values].sort((a, b) => a - b)
  const middle = sorted.length >> 1
  return sorted.length % 2 === 1
    ? (sorted[middle] ?? 0)
    : ((sorted[middle - 1] ?? 0) + (sorted[middle] ?? 0)) / 2
}

/** How long the work takes. */
export const seconds = async (work: () => Promise<unknown>): Promise<number> => {
  const startedAt = performance.now()
  await work()
  return (performance.now() - startedAt) / 1000
}

export interface Method {
  name: string
  unit: string
  /** One round; answers its figure. */
  measure(): Promise<number>
}

/** Runs the methods in turn, A B C A B C …, after rounds that do not count: drift hits all alike. */
export async function interleaved(
  methods: readonly Method[],
  rounds: number,
  warmUpRounds = 1,
): Promise<Figure[]> {
  const figures = methods.map(({ name, unit }) => ({ name, unit, value: 0, rounds: [] as number[] }))
  for (let round = -warmUpRounds; round < rounds; round++) {
    for (const [place, method] of methods.entries()) {
      const value = await method.measure()
      if (round >= 0) figures[place]?.rounds.push(value)
    }
  }
  for (const figure of figures) figure.value = median(figure.rounds)
  return figures
}

/** The ratio of two figures of a run. Throws on a name that was not measured. */
export function ratioOf(
  figures: readonly Figure[],
  name: string,
  over: string,
  target?: Ratio['target'],
): Ratio {
  const find = (wanted: string): number => {
    const figure = figures.find((candidate) => candidate.name === wanted)
    if (!figure) throw new Error(`no figure named ${wanted}`)
    return figure.value
  }
  return { name: `${name} / ${over}`, value: find(name) / find(over), ...(target ? { target } : {}) }
}

export const isMet = ({ value, target }: Ratio): boolean | undefined =>
  target === undefined ? undefined : 'atLeast' in target ? value >= target.atLeast : value <= target.atMost

/** Prints the result and keeps it in bench/results. */
export function publish(name: string, result: Result): void {
  const machine = { cpus: cpus().length, memoryGiB: Math.round(totalmem() / 2 ** 30), node: process.version }
  console.log(`\n${name}`)
  for (const { name: figure, unit, value } of result.figures) {
    console.log(`  ${figure.padEnd(52)} ${value.toFixed(value < 10 ? 2 : 0).padStart(10)} ${unit}`)
  }
  for (const ratio of result.ratios) {
    const target = ratio.target ? ` (target ${JSON.stringify(ratio.target).replace(/["{}]/g, '')})` : ''
    const verdict = isMet(ratio) === undefined ? '' : isMet(ratio) ? ' met' : ' NOT met'
    console.log(`  ${ratio.name.padEnd(52)} ${ratio.value.toFixed(2).padStart(10)}${target}${verdict}`)
  }
  for (const { name: cost, share } of result.costs ?? []) {
    console.log(`  ${cost.padEnd(52)} ${(100 * share).toFixed(1).padStart(10)} % of the time`)
  }
  mkdirSync('bench/results', { recursive: true })
  const text = JSON.stringify(
    { name, measuredOn: new Date().toISOString().slice(0, 10), machine, ...result },
    null,
    2,
  )
  writeFileSync(`bench/results/${name}.json`, `${text}\n`)
}
