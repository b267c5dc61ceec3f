/** The catalogue of errors as Markdown, from the one table of codes. */
import { errorCodes, statusesOf } from './errors.ts'

const intro = `# Errors

An error answer repeats its HTTP status in \`ResponseStatus.ErrorCode\`; each element of \`ResponseStatus.Errors\` has a
code of this list, the parameter it is about, and words. All faults of a request are listed, up to twenty.

This page is generated from the contract by \`npm run generate\`.

| Code | Name | Status | Cause | What to do |
|---|---|---|---|---|
`

/** One row per code, with the statuses it comes with. */
export function errorsMarkdown(): string {
  const lines = Object.entries(errorCodes).map(
    ([code, { name, cause, fix }]) => `| ${code} | ${name} | ${statusesOf(code)} | ${cause} | ${fix} |`,
  )
  return `${intro}${lines.join('\n')}\n`
}
