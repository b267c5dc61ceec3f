#!/usr/bin/env node
/** The command line of the product, run from its TypeScript sources without a build. */
import { ensureInstalled } from './install.mjs'

ensureInstalled()
const { register } = await import('tsx/esm/api')
register()
await import('../src/bin/lockstep.ts')
