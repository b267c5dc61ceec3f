/**
 * Property tests walk the same cases in every run, so that a change of the code is the only thing that can turn a
 * test red. SEED=<number> walks others; a failure prints its seed in any case.
 */
import fc from 'fast-check'

fc.configureGlobal({ seed: Number(process.env.SEED ?? 20_261_121) })
