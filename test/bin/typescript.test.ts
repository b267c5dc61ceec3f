/** How processes of the product come by their program. */
import { execFileSync } from 'node:child_process'
import { fileURLToPath } from 'node:url'
import { expect, test } from 'vitest'

const root = fileURLToPath(new URL('../..', import.meta.url))
const module = 'src/domain/orders/order-relatives.ts'

/** The text of the module as such a process runs it. */
function sourceOfModule(): string {
  const hook = `export async function load(url, context, next) {
    const loaded = await next(url, context)
    if (url.includes('${module}')) (await import('node:fs')).writeSync(1, String(loaded.source))
    return loaded
  }`
  const show = `import { register } from 'node:module'; register(${JSON.stringify(dataUrl(hook))})`
  const flags = ['--import', './scripts/typescript.mjs', '--import', dataUrl(show)]
  return execFileSync(process.execPath, [...flags, module], { cwd: root, encoding: 'utf8' })
}

const dataUrl = (script: string): string => `data:text/javascript,${encodeURIComponent(script)}`

test('closures keep the name that they were given when they were written', () => {
  const [program = '', map] = sourceOfModule().split('//# sourceMappingURL=')
  expect(map).toBeDefined()
  expect(program).toContain('function relativesOf')
  expect(program).not.toContain('"name"')
})
