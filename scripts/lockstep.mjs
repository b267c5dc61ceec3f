#!/usr/bin/env node
/** The command line of the product, run from its TypeScript sources without a build. */
import { ensureInstalled } from './install.mjs'

ensureInstalled()
await import('./typescript.mjs')
await import('../src/bin/lockstep.ts')
