/** Plays every scenario of this folder on one platform, one after the other, each from an empty stage. */
import { readFileSync } from 'node:fs'
import { describe, test } from 'vitest'
import { listFiles } from '../support/files.ts'
import { testPlatform } from '../support/platform.ts'
import { createReader, readScenarios } from './support/language.ts'
import { seeingSentences, seeSoundBooks } from './support/seeing.ts'
import { settingSentences } from './support/setting.ts'
import { createStage, reset } from './support/stage.ts'
import { switchingSentences } from './support/switching.ts'
import { tradingSentences } from './support/trading.ts'

const platform = await testPlatform()
const stage = createStage(platform)
const read = createReader([
  ...settingSentences,
  ...tradingSentences,
  ...seeingSentences,
  ...switchingSentences,
])

for (const file of listFiles(['test/scenarios']).filter((path) => path.endsWith('.scenario'))) {
  describe(file, () => {
    for (const { title, lines } of readScenarios(file, readFileSync(file, 'utf8'))) {
      test(title, async () => {
        const steps = lines.map(read)
        platform.errors.length = 0
        await reset(stage, '2024-03-12T14:00:00Z')
        for (const step of steps) await step(stage)
        await seeSoundBooks(stage)
      })
    }
  })
}
