/** What the server says of the plans of a listing's statements. */
import type { Database } from '../../src/storage/database/database.ts'
import { makeSql, type Sql } from '../../src/storage/database/sql.ts'

export interface Node {
  'Actual Rows': number
  'Actual Loops': number
  'Rows Removed by Filter'?: number
  'Relation Name'?: string
  Plans?: Node[]
}

/** Rows that the leaves of the plan looked at. */
export const looked = ({ Plans = [], ...node }: Node): number =>
  Plans.length > 0
    ? Plans.reduce((sum, plan) => sum + looked(plan), 0)
    : node['Actual Loops'] * (node['Actual Rows'] + (node['Rows Removed by Filter'] ?? 0))

/** Of how many rows steps of the plans threw away more than `most`, joining or by a filter of their own. */
export const thrownAway = (
  plans: readonly Node[],
  most: number,
  by: 'Join Filter' | 'Filter' = 'Join Filter',
): number[] =>
  [...JSON.stringify(plans).matchAll(new RegExp(`"Rows Removed by ${by}":(\\d+)`, 'g'))]
    .map(([, removed]) => Number(removed))
    .filter((removed) => removed > most)

/** Of the listing's statements, as a connection keeps them or as it makes them for one call; unanswered they find nothing. */
export const plansOf = (
  db: Database,
  listing: (sql: Sql) => Promise<unknown>,
  isAnswered: boolean,
  mode: 'force_generic_plan' | 'force_custom_plan' = 'force_generic_plan',
): Promise<Node[]> =>
  db.transaction(async (tx) => {
    await tx.run`select set_config('plan_cache_mode', ${mode}, true)`
    const plans: Node[] = []
    const explaining = makeSql(async ({ text, values }) => {
      const given = values.map((value) => (value === null ? 'null' : `'${String(value)}'`)).join(', ')
      const execute = values.length > 0 ? `execute listing (${given})` : 'execute listing'
      await tx.script(`prepare listing as ${text}`)
      const how = { strings: [`explain (analyze, format json) ${execute}`], values: [] }
      const [row] = await tx.rows<{ 'QUERY PLAN': [{ Plan: Node }] }>`${how}`
      plans.push((row as NonNullable<typeof row>)['QUERY PLAN'][0].Plan)
      const rows = isAnswered ? await tx.rows<object>`${{ strings: [execute], values: [] }}` : []
      await tx.run`deallocate listing`
      return { rows, rowCount: 0, command: '' }
    })
    await listing(explaining)
    return plans
  })
