/** Lives for property tests: what happens, one after the other, each with a number by which it chooses among what is there. */
import fc from 'fast-check'
import type { makeAccountWorld } from './account-world.ts'

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

/** How a life comes to rest: what is claimed is free again, the market says its price, and all work is done. */
export function restOf(world: ReturnType<typeof makeAccountWorld>, say: () => Promise<unknown>) {
  const { write } = world.ctx.db
  const settle = async (): Promise<void> => {
    await write.run`
      update account_order set claimed_until = clock_timestamp() - interval '1 second' where claimed_until is not null`
    await write.run`update paper_order set fill_cap = null, needs_match = true where status in ('0', '1')`
    await say()
    await world.drain()
  }
  /** Three times, each a minute and a second later: a grace is over by then. */
  const minutes = async (): Promise<void> => {
    for (let round = 0; round < 3; round += 1) {
      world.clock.time += 61_000
      await settle()
    }
  }
  return { settle, minutes }
}
