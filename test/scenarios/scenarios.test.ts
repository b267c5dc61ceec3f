/** Plays every scenario of this folder on one platform, one after the other, each from an empty stage. */
import { readFileSync } from 'node:fs'
import { describe, test } from 'vitest'
import { listFiles } from '../support/files.ts'
import { readScenarios } from './support/language.ts'
import { openTheatre } from './support/theatre.ts'

const { play } = await openTheatre()

for (const file of listFiles(['test/scenarios']).filter((path) => path.endsWith('.scenario'))) {
  describe(file, () => {
    for (const { title, lines } of readScenarios(file, readFileSync(file, 'utf8')))
      test(title, () => play(lines))
  })
}
