/** Lives for property tests: what happens, one after the other, each with a number by which it chooses among what is there. */
import fc from 'fast-check'

export interface Happening {
  readonly act: string
  readonly pick: number
}

/** Lives of the named acts, each as often as its weight says beside the others', which is `usual` where none is given. */
export const livesOf = (
  acts: readonly string[],
  weights: Readonly<Record<string, number>>,
  { usual, ...length }: { readonly usual: number; readonly minLength: number; readonly maxLength: number },
): fc.Arbitrary<Happening[]> =>
  fc.array(
    fc.record({
      act: fc.oneof(
        ...acts.map((name) => ({ weight: weights[name] ?? usual, arbitrary: fc.constant(name) })),
      ),
      pick: fc.nat(10_000),
    }),
    length,
  )
