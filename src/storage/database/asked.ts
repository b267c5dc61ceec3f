/**
 * Conditions on what is asked for. Where nothing is asked there is none: a plan for whatever may be asked expects that
 * hardly a row passes, and reads all of them to find it. Each choice is a statement of its own, which connections keep.
 */
import { type Fragment, fragment, join } from './sql.ts'

/** The condition, or none where a value of it is not given. */
export const asked: typeof fragment = (strings, ...values) =>
  values.some((value) => value === undefined || value === null)
    ? fragment`true`
    : fragment(strings, ...values)

/**
 * The columns hold the texts that are given, in any letter case. Any choice of them is the same statement: no index knows
 * them.
 */
export const holding = (
  ...parts: readonly (readonly [column: Fragment, text: string | undefined])[]
): Fragment =>
  parts.every(([, text]) => text === undefined)
    ? fragment`true`
    : join(
        parts.map(
          ([column, text]) =>
            fragment`(${text}::text is null or strpos(lower(${column}), lower(${text}::text)) > 0)`,
        ),
        ' and ',
      )
