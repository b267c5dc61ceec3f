/** Asks the three hosts whether they answer: each knows Hello, and says that a call without a key is refused. */
import { setTimeout as pause } from 'node:timers/promises'
import { type HostName, hostNames } from '../contract/index.ts'
import { localUrlOf } from './pages.ts'

const patienceMs = 10_000
const pauseMs = 50

/** Resolves when every host answers at the listener's address. Throws after ten seconds. */
export async function hostsAnswer(url: string): Promise<void> {
  const until = performance.now() + patienceMs
  for (const host of hostNames) {
    while (!(await answers(url, host))) {
      if (performance.now() > until) throw new Error(`the ${host} host does not answer at ${url}`)
      await pause(pauseMs)
    }
  }
}

async function answers(url: string, host: HostName): Promise<boolean> {
  try {
    const response = await fetch(`${localUrlOf(url, host)}/General/Hello`, {
      method: 'POST',
      headers: { accept: 'application/json' },
    })
    return response.status === 401
  } catch {
    return false
  }
}
