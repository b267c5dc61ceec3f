/**
 * What a file of tests has begun, wherever it did: in a test too, where the runner takes a hook and never runs it. Files
 * share their processes, so what one leaves open stays open.
 */
const ends: (() => unknown)[] = []

/** Ends something when all tests of the file are over; what was begun last ends first. */
export const afterFile = (end: () => unknown): void => void ends.push(end)

/** Ends everything. Throws the first error when all has been tried. */
export async function endFile(): Promise<void> {
  const errors: unknown[] = []
  for (let end = ends.pop(); end !== undefined; end = ends.pop()) {
    try {
      await end()
    } catch (error) {
      errors.push(error)
    }
  }
  if (errors.length > 0) throw errors[0]
}
