/**
 * Property tests walk the same cases in every run, so that a change of the code is the only thing that can turn a
 * test red. SEED=<number> walks others; a failure prints its seed in any case. A list may be as long as its test says:
 * otherwise none has more than some ten members, whatever that is.
 */
import fc from 'fast-check'

fc.configureGlobal({ defaultSizeToMaxWhenMaxSpecified: true, seed: Number(process.env.SEED ?? 20_261_121) })
