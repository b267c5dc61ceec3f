/** Plays the stories of the concept pages, each from an empty stage, as those of the scenarios are. */
import { describe, test } from 'vitest'
import { readScenarios } from '../scenarios/support/language.ts'
import { openTheatre } from '../scenarios/support/theatre.ts'
import { pagesWithStories, storiesOf } from './page.ts'

const { play } = await openTheatre()

describe.each(pagesWithStories)('%s', (page) => {
  for (const { title, lines } of storiesOf(page).flatMap((story) => readScenarios(page, story)))
    test(title, () => play(lines))
})
