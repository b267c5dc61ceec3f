/** An operator's commands with what they say, and the people whom most of them are about. */
import { expect } from 'vitest'
import type { Ran } from './command-line.ts'

/** What commands say that run in this way, and two sites with an admin, a customer and an owner by such commands. */
export function operatorBy(run: (...words: string[]) => Promise<Ran>) {
  /** What a command says with --json; it must succeed. */
  async function told<T = Record<string, unknown>>(...words: string[]): Promise<T> {
    const { status, output, errors } = await run(...words, '--json')
    expect([status, errors]).toEqual([0, ''])
    return JSON.parse(output) as T
  }
  /** What a command that cannot be done says. */
  async function refused(...words: string[]): Promise<string> {
    const { status, output, errors } = await run(...words)
    expect([status, output]).toEqual([1, ''])
    return errors.trim()
  }
  /** The sites north and west below it; the admin is of the first, the customer of the second, the owner of none. */
  async function addPeople() {
    await told('sites', 'add', 'north', '--kind', 'geo', '--name', 'North')
    await told('sites', 'add', 'west', '--kind', 'whitelabel', '--name', 'West', '--region', 'north')
    const person = async (first: string, ...more: string[]) => {
      const words = ['people', 'add', '--first', first, '--last', 'L', '--email', `${first}@x.org`]
      return Number((await told(...words, ...more)).personId)
    }
    const admin = await person('admin', '--site', 'north', '--role', 'geosite_admin')
    const customer = await person('customer', '--site', 'west')
    return { admin, customer, owner: await person('owner') }
  }
  /** A strategy of the person's. */
  async function addStrategy(owner: number): Promise<number> {
    const body = JSON.stringify({ StrategyName: 'Trend', StartingCapital: 100_000 })
    const { status, output } = await run('call', 'AddStrategy', '--person', String(owner), '--body', body)
    expect(status).toBe(0)
    return JSON.parse(output)[0].StrategyId
  }
  return { told, refused, addPeople, addStrategy }
}
