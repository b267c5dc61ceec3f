/**
 * The tables that the schema makes. A database of the operator's own may hold others, which are nobody's business of ours:
 * whatever goes over all tables goes over these.
 */
import { readFileSync } from 'node:fs'
import { join } from 'node:path'

const schema = readFileSync(join(import.meta.dirname, '../schema.sql'), 'utf8')

export const ownTables: readonly string[] = Array.from(
  schema.matchAll(/^create table (\w+) \($/gm),
  ([, name]) => name as string,
)
