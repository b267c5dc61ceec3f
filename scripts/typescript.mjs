/** Lets this process run TypeScript from its sources: by tsx, without what that does to every closure. */
import { register } from 'node:module'
import { register as registerTsx } from 'tsx/esm/api'

registerTsx()
register('./plain-closures.mjs', import.meta.url)
