/**
 * What an error of a call out says in words; undefined where it has none. A name with several addresses fails at each of
 * them, and its error has no words of its own.
 */
export function failureWords(error: unknown): string | undefined {
  const failed: readonly unknown[] = error instanceof AggregateError ? error.errors : [error]
  const said = failed.flatMap((one) => (one instanceof Error && one.message !== '' ? [one.message] : []))
  return said.length === 0 ? undefined : said.join(', ')
}
