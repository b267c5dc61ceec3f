/** Where the time of a piece of work goes: V8's own profiler, self time by function. */
import { Session } from 'node:inspector/promises'

/** A function, or what the process waited for, and its share of the time. */
export interface Cost {
  name: string
  share: number
}

/** Runs the work under the profiler; answers its costliest functions by their own time. */
export async function profiled(work: () => Promise<void>, most: number): Promise<Cost[]> {
  const session = new Session()
  session.connect()
  await session.post('Profiler.enable')
  await session.post('Profiler.start')
  await work()
  const { profile } = await session.post('Profiler.stop')
  session.disconnect()
  const names = new Map(profile.nodes.map(({ id, callFrame }) => [id, nameOf(callFrame)]))
  const times = new Map<string, number>()
  for (const [place, node] of (profile.samples ?? []).entries()) {
    const name = names.get(node) ?? ''
    times.set(name, (times.get(name) ?? 0) + (profile.timeDeltas?.[place] ?? 0))
  }
  const total = [...times.values()].reduce((sum, time) => sum + time, 0)
  const costs = [...times].map(([name, time]) => ({ name, share: time / total }))
  return costs.sort((a, b) => b.share - a.share).slice(0, most)
}

const nameOf = ({ functionName, url }: { functionName: string; url: string }): string =>
  `${functionName || 'anonymous'} ${url.split('/').slice(-2).join('/')}`.trim()
