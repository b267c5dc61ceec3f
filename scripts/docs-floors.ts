/** Writes the table of floors into docs/architecture.md; a test holds the document against it. */
import { readFileSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { withFloorTable } from '../test/support/floor-table.ts'

const path = join(import.meta.dirname, '..', 'docs', 'architecture.md')
writeFileSync(path, withFloorTable(readFileSync(path, 'utf8')))
