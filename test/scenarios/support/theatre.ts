/** Where stories are played: a stage on a platform of its own, and a reader of every sentence there is. */
import { testPlatform } from '../../support/platform.ts'
import { createReader, type Line } from './language.ts'
import { seeingSentences, seeSoundBooks } from './seeing.ts'
import { settingSentences } from './setting.ts'
import { createStage, reset, type Stage } from './stage.ts'
import { switchingSentences } from './switching.ts'
import { tradingSentences } from './trading.ts'

export interface Theatre {
  stage: Stage
  /** Throws on a line that is no sentence. */
  read(line: Line): (stage: Stage) => Promise<void>
  /** Begins on an empty stage; all lines are read before the first one is played. */
  play(lines: readonly Line[]): Promise<void>
}

/** When every story begins: a Tuesday on which New York trades. */
export const curtain = '2024-03-12T14:00:00Z'

/** Opens one for a test file. */
export async function openTheatre(): Promise<Theatre> {
  const platform = await testPlatform()
  const stage = createStage(platform)
  const read = createReader([
    ...settingSentences,
    ...tradingSentences,
    ...seeingSentences,
    ...switchingSentences,
  ])
  const play = async (lines: readonly Line[]): Promise<void> => {
    const steps = lines.map(read)
    platform.errors.length = 0
    await reset(stage, curtain)
    for (const step of steps) await step(stage)
    await seeSoundBooks(stage)
  }
  return { stage, read, play }
}
