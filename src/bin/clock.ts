/** The business clock of a running platform: the machine's. Checks and the demo bring clocks of their own. */
export const systemClock = { now: (): number => Date.now() }
