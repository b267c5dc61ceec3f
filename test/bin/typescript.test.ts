/** How processes of the product come by their program. */
import { execFileSync } from 'node:child_process'
import { fileURLToPath } from 'node:url'
import { expect, test } from 'vitest'

const root = fileURLToPath(new URL('../..', import.meta.url))

/** Notes what is named from now on, whichever way the program is loaded. */
const noteNaming = `
  const { defineProperty } = Object
  globalThis.named = []
  Object.defineProperty = (...words) => {
    if (words[1] === 'name') named.push(words[2].value)
    return defineProperty(...words)
  }`
const show = `
  const { relativesOf } = await import('./src/domain/orders/order-relatives.ts')
  let trace = ''
  try { relativesOf(undefined) } catch (error) { trace = error.stack.split('\\n')[1] }
  console.log(JSON.stringify([named, relativesOf.name, trace]))`

const dataUrl = (script: string): string => `data:text/javascript,${encodeURIComponent(script)}`

test('closures keep the name and the place that they were given when they were written', () => {
  const flags = ['--import', './scripts/typescript.mjs', '--import', dataUrl(noteNaming)]
  const said = execFileSync(process.execPath, [...flags, '--input-type=module', '-e', show], {
    cwd: root,
    encoding: 'utf8',
  })
  const [named, name, trace] = JSON.parse(said)
  // tsx names its own.
  expect(named).not.toContain('relativesOf')
  expect(name).toBe('relativesOf')
  expect(trace).toMatch(/order-relatives\.ts:\d+:\d+/)
})
