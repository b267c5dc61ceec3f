/**
 * Combination rules: what no single field can say. Each rule carries its own words, so the reference states
 * exactly what is checked. A value that was refused already is never reported a second time.
 */
import { faultOf } from './errors.ts'
import type { Given, Need } from './row.ts'

const isGiven = ({ params, refused }: Given, name: string): boolean =>
  params[name] !== undefined || refused(name)

/** None given: 1128 on the first name. */
export function atLeastOne(...names: readonly [string, ...string[]]): Need {
  const says =
    names.length === 1 ? `${names[0]} must be given.` : `At least one of ${names.join(', ')} must be given.`
  const none = [faultOf('BadCombination', names[0], says)]
  return { says, faults: (given) => (names.some((name) => isGiven(given, name)) ? [] : none) }
}

/** `name` is mandatory while `when` holds: 1102. */
export function neededWhen(name: string, words: string, when: (params: Given['params']) => boolean): Need {
  const missing = [faultOf('MissingValue', name)]
  return {
    says: `${name} is required ${words}.`,
    faults: (given) => (isGiven(given, name) || !when(given.params) ? [] : missing),
  }
}

/** The end of a range is not before its start: 1128 on the end. */
export function inOrder(from: string, to: string): Need {
  const says = `${to} is not before ${from}.`
  return {
    says,
    faults: ({ params }) => {
      const [start, end] = [params[from], params[to]]
      const reversed = typeof start === 'number' && typeof end === 'number' && end < start
      return reversed ? [faultOf('BadCombination', to, says)] : []
    },
  }
}
