/** Lets this process run TypeScript from its sources: by tsx, without what that does to every closure. */
import module from 'node:module'
import { register as registerTsx } from 'tsx/esm/api'
import { loadInThread } from './plain-closures.mjs'

const { registerHooks } = module
let isInThread = false
// tsx hooks into the thread that runs the program where Node does that well enough for it. It does not say whether it did.
if (registerHooks)
  module.registerHooks = (hooks) => {
    isInThread = true
    return registerHooks(hooks)
  }
registerTsx()
if (registerHooks) module.registerHooks = registerHooks

if (isInThread) registerHooks({ load: loadInThread })
else module.register('./plain-closures.mjs', import.meta.url)
