/**
 * Combination rules: what no single field can say. Each rule carries its own words, so the reference states
 * exactly what is checked. A value that was refused already counts as given and is not reported twice.
 */
import { type Faults, fault, isRefusedAt } from './faults.ts'
import type { Given, Need } from './row.ts'
import type { HostName } from './schema.ts'

const isGiven = ({ params }: Given, name: string, faults: Faults): boolean =>
  params[name] !== undefined || isRefusedAt(faults, name)

/** None given: 1128 on the first name. */
export function atLeastOne(...names: readonly [string, ...string[]]): Need {
  const says =
    names.length === 1 ? `${names[0]} must be given.` : `At least one of ${names.join(', ')} must be given.`
  return {
    says,
    check(given, faults) {
      if (!names.some((name) => isGiven(given, name, faults))) fault(faults, 'BadCombination', names[0], says)
    },
  }
}

/** One rule everywhere, which some hosts check in their own way. */
export const byHost = (everywhere: Need, own: Readonly<Partial<Record<HostName, Need>>>): Need => ({
  says: everywhere.says,
  check: (given, faults) => (own[given.host] ?? everywhere).check(given, faults),
})

/** `name` is mandatory while `when` holds: 1102. */
export function neededWhen(name: string, words: string, when: (params: Given['params']) => boolean): Need {
  return {
    says: `${name} is required ${words}.`,
    check(given, faults) {
      if (!isGiven(given, name, faults) && when(given.params)) fault(faults, 'MissingValue', name)
    },
  }
}

/** The end of a range is not before its start: 1128 on the end. */
export const datesInOrder: Need = {
  says: 'EndDate must not be before StartDate.',
  check({ params: { StartDate: start, EndDate: end } }, faults) {
    if (typeof start === 'number' && typeof end === 'number' && end < start)
      fault(faults, 'BadCombination', 'EndDate', datesInOrder.says)
  },
}
