/**
 * `npm run soak -- [minutes]`: the tests that live on chance, round after round, each round with a seed of its own,
 * until the time is up (an hour without a number) or a round fails. `npm test` walks one seed, so that nothing but a
 * change of the code turns it red; this looks for what that seed does not meet.
 */
import { spawnSync } from 'node:child_process'
import { randomInt } from 'node:crypto'
import { readdirSync, readFileSync } from 'node:fs'
import { join } from 'node:path'
import { ensureInstalled, root } from './install.mjs'

/** Properties and random lives, and processes killed at moments that nobody chose. */
const isLeftToChance = (file) =>
  file.startsWith(join('test', 'faults')) || readFileSync(join(root, file), 'utf8').includes("'fast-check'")

ensureInstalled({ withTools: true })
const minutes = Number(process.argv[2] ?? 60)
if (!(minutes > 0)) {
  console.error(`npm run soak takes a number of minutes, not ${process.argv[2]}.`)
  process.exit(1)
}
const files = ['src', 'test']
  .flatMap((folder) => readdirSync(join(root, folder), { recursive: true }).map((file) => join(folder, file)))
  .filter((file) => file.endsWith('.test.ts') && isLeftToChance(file))
const until = performance.now() + minutes * 60_000
let passed = 0
let isRed = false
while (!isRed && performance.now() < until) {
  const SEED = String(randomInt(2 ** 31))
  console.log(`\nround ${passed + 1}: SEED=${SEED}`)
  const options = { cwd: root, env: { ...process.env, SEED }, stdio: 'inherit' }
  isRed = spawnSync(process.execPath, ['scripts/test.mjs', ...files], options).status !== 0
  if (!isRed) passed += 1
}
console.log(`soak: ${passed} rounds passed${isRed ? ', then one failed' : ''}`)
process.exitCode = isRed ? 1 : 0
