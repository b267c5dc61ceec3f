/** One op: plain JSON in, plain JSON out. Each op states its own input type. */
export type KernelOp = (input: never) => unknown
