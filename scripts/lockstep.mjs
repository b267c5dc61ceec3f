#!/usr/bin/env node
/** The command line of the product, run from its TypeScript sources without a build. */
import { pathToFileURL } from 'node:url'
import { ensureInstalled } from './install.mjs'
import { wholeProgram } from './program.mjs'

ensureInstalled()
try {
  const whole = await wholeProgram()
  if (whole === undefined) {
    await import('./typescript.mjs')
    await import('../src/bin/lockstep.ts')
  } else {
    process.setSourceMapsEnabled(true)
    await import(pathToFileURL(whole).href)
  }
} catch (error) {
  // Of a package that has a part for each kind of machine, all of them optional.
  if (!/Cannot find native binding|The package "@esbuild\/.*could not be found/.test(error?.message))
    throw error
  console.error('Packages made for this kind of machine are not installed: run npm ci --include=optional')
  process.exit(1)
}
