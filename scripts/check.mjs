/**
 * `npm run check`: everything about the code that needs no database: types, lint, format, the house rules,
 * generated files unchanged.
 */
import { spawnSync } from 'node:child_process'
import { ensureInstalled, root } from './install.mjs'

ensureInstalled({ withTools: true })
const steps = [
  ['types', 'npx', ['tsc', '-p', '.']],
  ['format, lint, awaited promises, complete switches', 'npm', ['run', '--silent', 'lint']],
  ['the house', process.execPath, ['scripts/test.mjs', 'test/tidy.test.ts']],
  [
    'generated files',
    process.execPath,
    ['--import', './scripts/typescript.mjs', 'scripts/generate.ts', '--check'],
  ],
  [
    'interface documents',
    'npx',
    ['redocly', 'lint', 'openapi/general.json', 'openapi/geo.json', 'openapi/whitelabel.json'],
  ],
]
let broken = 0
for (const [name, command, args] of steps) {
  console.log(`\n--- ${name}`)
  const { status } = spawnSync(command, args, { cwd: root, stdio: 'inherit' })
  if (status !== 0) {
    broken += 1
    console.error(`${name}: not clean`)
  }
}
console.log(broken === 0 ? '\ncheck: clean' : `\ncheck: ${broken} not clean`)
process.exitCode = broken === 0 ? 0 : 1
