/**
 * The guides as their readers walk them: whatever is to be pasted runs, block after block, against one platform that
 * `npm start`'s program has started with its demo, and answers what the guide shows.
 */
import { spawnSync } from 'node:child_process'
import { readdirSync } from 'node:fs'
import { join } from 'node:path'
import { afterAll, beforeAll, expect, test, vi } from 'vitest'
import { isRead, lackOf, openShell, type Step, stepsOf } from '../support/guide.ts'
import { newDataDir, type Product, removeDataDir, startProduct } from '../support/product.ts'

const folder = 'docs/guides'
const guides = readdirSync(folder)
const dataDir = newDataDir()
let product: Product | undefined
/** The product needs neither; its guides speak to whoever has them. */
const canPaste = ['bash', 'curl'].every((tool) => spawnSync(tool, ['--version']).status === 0)

beforeAll(async () => {
  if (canPaste) product = await startProduct({ dataDir, env: { DEMO: '1' }, readyWithinMs: 890_000 })
}, 900_000)
afterAll(async () => {
  await product?.stop()
  removeDataDir(dataDir)
})

test.skipIf(!canPaste).each(guides)('%s leads where it says', { timeout: 240_000 }, async (name) => {
  const shell = openShell({ DATA_DIR: dataDir })
  const paste = (step: Step) => shell.paste(hereOf(step.shell))
  try {
    for (const step of stepsOf(join(folder, name))) {
      const first = lackOf(step, await paste(step))
      if (first === undefined) continue
      expect(isRead(step), `${step.place}: ${first}`).toBe(true)
      // What was ordered is done at the next quote, and what is copied a moment after it.
      await vi.waitFor(async () => expect(lackOf(step, await paste(step)), step.place).toBeUndefined(), {
        timeout: 60_000,
        interval: 250,
      })
    }
  } finally {
    await shell.close()
  }
})

/** What is pasted, where the platform is at another address and in another folder. */
const hereOf = (shell: string): string =>
  shell.replaceAll('http://127.0.0.1:8080', product?.url ?? '').replaceAll('./.data/', `${dataDir}/`)
