/**
 * The platform's own secrets. Without LOCKSTEP_SECRET they are made once and kept in the data folder, readable
 * by their owner alone; in production a generated secret is refused, because it would be lost with the folder.
 */
import { createHmac, randomBytes } from 'node:crypto'
import { existsSync, linkSync, mkdirSync, readFileSync, rmSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import type { Secrets } from '../operations/secrets.ts'
import { type Config, ConfigError } from './config.ts'

/** Reads or makes the secret and derives one key for each use. */
export function loadSecrets(config: Config): Secrets {
  const root = config.secret ?? storedSecret(config)
  if (root.length < 32) throw new ConfigError('LOCKSTEP_SECRET must have at least 32 characters')
  const derive = (use: string): Buffer => createHmac('sha256', root).update(use).digest()
  return {
    pepper: derive('access keys'),
    cursor: derive('cursors'),
    passwords: derive('passwords'),
    personalData: derive('personal data'),
  }
}

function storedSecret({ dataDir, production }: Config): string {
  if (production) throw new ConfigError('set LOCKSTEP_SECRET: production does not run on a generated secret')
  const path = join(dataDir, 'secret')
  if (!existsSync(path)) {
    mkdirSync(dataDir, { recursive: true })
    const draft = `${path}.${process.pid}`
    writeFileSync(draft, randomBytes(48).toString('base64url'), { mode: 0o600 })
    try {
      linkSync(draft, path) // fails where another process was first: then its secret counts
    } catch (error) {
      if ((error as NodeJS.ErrnoException).code !== 'EEXIST') throw error
    } finally {
      rmSync(draft, { force: true })
    }
  }
  return readFileSync(path, 'utf8').trim()
}
