#!/usr/bin/env node
/** The command line of the product, run from its TypeScript sources without a build. */
import { ensureInstalled } from './install.mjs'

ensureInstalled()
try {
  await import('./typescript.mjs')
  await import('../src/bin/lockstep.ts')
} catch (error) {
  // Of a package that has a part for each kind of machine, all of them optional.
  if (!/Cannot find native binding|The package "@esbuild\/.*could not be found/.test(error?.message))
    throw error
  console.error('Packages made for this kind of machine are not installed: run npm ci --include=optional')
  process.exit(1)
}
