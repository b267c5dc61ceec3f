/** The operator's switches of the whole platform: maintenance, and whether accounts open anything new. */
import type { Command } from 'commander'
import { markAccounts } from '../storage/mirror/sync-due.ts'
import { setSwitch } from '../storage/work/switches.ts'
import { type Output, oneOf, say, tool, withPlatform } from './tool.ts'

/** Adds maintenance and openings. */
export function addSwitchCommands(program: Command): void {
  tool(program, 'maintenance <state>', 'on: every call answers 503; off: open again').action(
    (state: string, output: Output) => switchMaintenance(oneOf('maintenance', state, states), output),
  )
  tool(program, 'openings <state>', 'off: nobody opens anything new, everywhere; on: again').action(
    (state: string, output: Output) => switchOpenings(oneOf('openings', state, states), output),
  )
}

const states = ['on', 'off'] as const
type State = (typeof states)[number]

async function switchMaintenance(state: State, output: Output): Promise<void> {
  await withPlatform(async (db) => {
    await setSwitch(db.write, 'maintenance', state === 'on', Date.now())
    say(output, { maintenance: state }, `Maintenance is ${state}.`)
  })
}

async function switchOpenings(state: State, output: Output): Promise<void> {
  const isOpen = state === 'on'
  await withPlatform(async (db) => {
    const now = Date.now()
    await setSwitch(db.write, 'noOpeningOrders', !isOpen, now)
    if (isOpen) await markAccounts(db, now)
    const says = isOpen ? 'Accounts may open positions again.' : 'No account opens anything new.'
    say(output, { openings: state }, says)
  })
}
