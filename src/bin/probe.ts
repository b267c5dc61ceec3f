/** Asks the three hosts whether they answer: each knows Hello, and says that a call without a key is refused. */
import { type HostName, hostNames } from '../contract/index.ts'
import type { Config } from './config.ts'
import { baseUrlOf } from './pages.ts'

const patienceMs = 10_000
const pauseMs = 50

/** Resolves when every host answers at the listener's address. Throws after ten seconds. */
export async function hostsAnswer(config: Config, url: string): Promise<void> {
  const until = performance.now() + patienceMs
  for (const host of hostNames) {
    while (!(await answers(config, url, host))) {
      if (performance.now() > until) throw new Error(`the ${host} host does not answer at ${url}`)
      await new Promise((resolve) => setTimeout(resolve, pauseMs))
    }
  }
}

/** Every host is also reached by its path prefix, whatever its name is. */
async function answers(config: Config, url: string, host: HostName): Promise<boolean> {
  const path = new URL(
    baseUrlOf({ ...config, hosts: { ...config.hosts, [host]: { dialect: 'native' } } }, host),
  ).pathname
  try {
    const response = await fetch(`${url}${path}/General/Hello`, {
      method: 'POST',
      headers: { accept: 'application/json' },
    })
    return response.status === 401
  } catch {
    return false
  }
}
