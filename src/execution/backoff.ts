/** The wait after the failure that `failures` others came before: `shortest`, doubled each time, at most `longest`. */
export const backoff = (failures: number, shortest: number, longest: number): number =>
  Math.min(shortest * 2 ** failures, longest)
