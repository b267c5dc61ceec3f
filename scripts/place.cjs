/**
 * Loaded before the program itself (`node -r`), because Node finds no module of a program in such a folder, and says so
 * with a trace of its own insides. Of the old form of modules, which is found anywhere.
 */
'use strict'
const { dirname, sep } = require('node:path')

const root = dirname(__dirname)
if (sep !== '\\' && root.includes('\\')) {
  console.error(`Lockstep cannot run in a folder with a backslash in its path: ${root}`)
  process.exit(1)
}
