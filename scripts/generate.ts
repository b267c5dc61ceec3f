/**
 * Writes what is derived from the contract and committed: the OpenAPI documents and the error catalogue. The
 * tests compare the files with what this would write.
 */
import { mkdirSync, writeFileSync } from 'node:fs'
import { dirname } from 'node:path'
import { generatedFiles } from '../test/contract/generated.ts'

for (const [path, text] of generatedFiles()) {
  mkdirSync(dirname(path), { recursive: true })
  writeFileSync(path, text)
}
