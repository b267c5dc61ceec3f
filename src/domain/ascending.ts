/** Places in what ascends, such as days and moments. */

/** The first place in `[low, high)` whose value is not below `value`; `high` when all are. */
export function firstFrom(
  ascending: ArrayLike<number>,
  value: number,
  low = 0,
  high = ascending.length,
): number {
  while (low < high) {
    const middle = (low + high) >>> 1
    if ((ascending[middle] as number) < value) low = middle + 1
    else high = middle
  }
  return low
}
