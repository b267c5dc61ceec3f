/** Plays the stories of the concept pages, each from an empty stage, as those of the scenarios are. */
import { describe, test } from 'vitest'
import { createReader, readScenarios } from '../scenarios/support/language.ts'
import { seeingSentences, seeSoundBooks } from '../scenarios/support/seeing.ts'
import { settingSentences } from '../scenarios/support/setting.ts'
import { createStage, reset } from '../scenarios/support/stage.ts'
import { switchingSentences } from '../scenarios/support/switching.ts'
import { tradingSentences } from '../scenarios/support/trading.ts'
import { testPlatform } from '../support/platform.ts'
import { pagesWithStories, storiesOf } from './page.ts'

const platform = await testPlatform()
const stage = createStage(platform)
const read = createReader([
  ...settingSentences,
  ...tradingSentences,
  ...seeingSentences,
  ...switchingSentences,
])

describe.each(pagesWithStories)('%s', (page) => {
  for (const { title, lines } of storiesOf(page).flatMap((story) => readScenarios(page, story))) {
    test(title, async () => {
      const steps = lines.map(read)
      platform.errors.length = 0
      await reset(stage, '2024-03-12T14:00:00Z')
      for (const step of steps) await step(stage)
      await seeSoundBooks(stage)
    })
  }
})
