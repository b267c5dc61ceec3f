/** A neighbour who is asked before a start takes effect: on the white-label host, in a new account for every test. */
import { beforeEach, expect } from 'vitest'
import { type Answer, resultsOf } from '../../support/http.ts'
import { buildTown, type CitizenName } from './town.ts'

export interface ShownApproval {
  readonly RequestId: string
  readonly Status: string
  readonly ApprovalUrl?: string
  readonly SupersededByRequestId?: string
}

export async function buildApprovals() {
  const town = await buildTown()
  const { personId: PersonId, key } = town.people.neighbour
  let Account = ''
  let made = 0
  beforeEach(async () => {
    made += 1
    Account = `N${made}`
    await town.door('/accounts', [{ account: Account, personId: PersonId, cash: 10_000 }])
  })
  const own = () => ({ Account, PersonId })
  const wish = () => ({ ...own(), StrategyId: town.strategyId, StocksEnabled: true })
  const start = (more: object, host: 'WL' | 'Gen' | 'Geo' = 'WL') =>
    town.ask('StartAutotrade', { ...wish(), ...more }, { key, host })
  const idOf = (answer: Answer): string => String(answer.headers['x-approval-request-id'] ?? '')
  const status = (id: string, who: CitizenName = 'neighbour') =>
    town.ask('GetAutotradeApprovalStatus', { RequestId: id }, { key: town.people[who].key, host: 'WL' })
  const shown = async (id: string): Promise<ShownApproval> =>
    resultsOf<ShownApproval>(await status(id))[0] as ShownApproval
  const ask = async (more: object = {}): Promise<ShownApproval> => shown(idOf(await start(more)))
  /** How many strategies the account of the test follows. */
  const running = async () => resultsOf(await town.ask('GetAutotradedStrategies', own(), { key })).length
  /** Answers a request on its page; answers what that shows then. */
  const answer = async (request: ShownApproval, word: string): Promise<string> => {
    const response = await fetch(request.ApprovalUrl ?? '', {
      method: 'POST',
      body: new URLSearchParams({ answer: word }),
    })
    expect(response.status).toBe(200)
    return response.text()
  }
  return { town, own, wish, start, idOf, status, shown, ask, running, answer }
}
