/** The command line as an operator runs it: words, an exit status, what is said. */
import { execFile } from 'node:child_process'
import { mkdtempSync, rmSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { Command } from 'commander'
import { vi } from 'vitest'
import { ConfigError } from '../../src/bin/config.ts'
import { addOperatorCommands } from '../../src/bin/operator.ts'
import { afterFile } from './after-file.ts'

export interface Ran {
  status: number
  output: string
  errors: string
}

type Run = (...words: string[]) => Promise<Ran>

/**
 * Ways to run the program on a database, in a data folder of its own that goes with the test file: as a process, or its
 * commands within this one, which is as good wherever the process itself is not what is looked at, and ten times as fast.
 */
export function commandLine(url: string): { folder: string; run: Run; runHere: Run } {
  const folder = mkdtempSync(join(tmpdir(), 'lockstep-cli-'))
  const own = { DATABASE_URL: url, DATA_DIR: folder }
  for (const [name, value] of Object.entries(own)) vi.stubEnv(name, value)
  afterFile(() => {
    vi.unstubAllEnvs()
    rmSync(folder, { recursive: true })
  })
  const run: Run = (...words) =>
    new Promise((resolve) => {
      const env = { ...process.env, ...own }
      execFile(process.execPath, ['scripts/lockstep.mjs', ...words], { env }, (error, output, errors) =>
        resolve({ status: error ? Number(error.code) : 0, output: output.trim(), errors }),
      )
    })
  return { folder, run, runHere }
}

const runHere: Run = async (...words) => {
  const said: string[] = []
  const log = vi.spyOn(console, 'log').mockImplementation((text) => said.push(String(text)))
  const program = new Command('lockstep')
  addOperatorCommands(program)
  try {
    await program.parseAsync(words, { from: 'user' })
    return { status: Number(process.exitCode ?? 0), output: said.join('\n'), errors: '' }
  } catch (error) {
    if (!(error instanceof ConfigError)) throw error
    return { status: 1, output: said.join('\n'), errors: `lockstep: ${error.message}` }
  } finally {
    process.exitCode = undefined
    log.mockRestore()
  }
}
