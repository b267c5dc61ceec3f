import { readdirSync, readFileSync } from 'node:fs'
import { defineConfig } from 'vitest/config'

const files = ['src', 'test'].flatMap((folder) =>
  readdirSync(folder, { recursive: true, encoding: 'utf8' })
    .filter((name) => name.endsWith('.test.ts'))
    .map((name) => `${folder}/${name.replaceAll('\\', '/')}`),
)
/** What replaces a module for all who import it has a process of its own: there nobody has imported it before. */
const apart = files.filter((file) => readFileSync(file, 'utf8').includes('vi.mock('))
const ofEach = {
  setupFiles: ['test/support/seed.ts', 'test/support/inherited.ts', 'test/support/ending.ts'],
  testTimeout: 30_000,
  hookTimeout: 60_000,
}

/**
 * All other files share their processes, where a module is read once: read anew for each file, they would take half of
 * the time. What a file of tests changes of its process it changes back.
 */
export default defineConfig({
  test: {
    globalSetup: ['test/support/postgres-global.ts'],
    pool: 'forks',
    maxWorkers: 2,
    projects: [
      {
        test: {
          name: 'shared',
          isolate: false,
          include: ['src/**/*.test.ts', 'test/**/*.test.ts'],
          exclude: [...apart, 'node_modules/**'],
          ...ofEach,
        },
      },
      { test: { name: 'apart', include: apart, ...ofEach } },
    ],
  },
})
