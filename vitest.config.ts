import { defineConfig } from 'vitest/config'

/** These replace modules of Node for whatever imports them, so nobody else may have imported it before or do so after. */
const apart = [
  'src/http/send.test.ts',
  'test/storage/supervisor.test.ts',
  'test/bin/readiness.test.ts',
  'test/bin/metrics.test.ts',
]
const ofEach = {
  setupFiles: ['test/support/seed.ts', 'test/support/inherited.ts'],
  testTimeout: 30_000,
  hookTimeout: 60_000,
}

/**
 * Files share their process, where modules that the last one read need not be read again: that would take half of all
 * the time. What a file leaves behind in one is therefore a defect of that file.
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
