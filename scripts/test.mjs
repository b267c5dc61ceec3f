/**
 * `npm test`: installs what is missing, runs every test, and ends with one line that says how it went.
 * Arguments go to the test runner, so one file or name can be run alone.
 */
import { spawnSync } from 'node:child_process'
import { mkdtempSync, readFileSync, rmSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { ensureInstalled, root } from './install.mjs'

ensureInstalled({ withTools: true })
// The runner takes paths for addresses, and finds no module there.
if (/[%#]/.test(root)) {
  console.error(`The tests cannot run in a folder with % or # in its path: ${root}`)
  console.log('0 passed, 1 failed')
  process.exit(1)
}
const folder = mkdtempSync(join(tmpdir(), 'lockstep-test-'))
const report = join(folder, 'report.json')
const runner = join(root, 'node_modules', 'vitest', 'vitest.mjs')
const run = spawnSync(
  process.execPath,
  [
    runner,
    'run',
    '--reporter=default',
    '--reporter=json',
    `--outputFile.json=${report}`,
    ...process.argv.slice(2),
  ],
  { cwd: root, stdio: 'inherit' },
)

let passed = 0
let failed = 1
let skipped = 0
try {
  const counts = JSON.parse(readFileSync(report, 'utf8'))
  const brokenFiles = counts.testResults.filter(
    (file) => file.status === 'failed' && file.assertionResults.length === 0,
  )
  passed = counts.numPassedTests
  failed = counts.numFailedTests + brokenFiles.length
  skipped = counts.numPendingTests + counts.numTodoTests
} catch (error) {
  console.error(`The test runner left no report: ${error.message}`)
}
rmSync(folder, { recursive: true, force: true })
// A run that the runner itself calls failed (an unhandled rejection, no test found) never counts as green.
if (run.status !== 0 && failed === 0) failed = 1
console.log(`${passed} passed, ${failed} failed${skipped > 0 ? `, ${skipped} skipped` : ''}`)
process.exitCode = failed === 0 && passed > 0 ? 0 : 1
