/** The files derived from the contract: path to text, the same for the generator and for the test. */
import { errorsMarkdown } from '../../src/contract/error-catalogue.ts'
import { hostFacts } from '../../src/contract/hosts.ts'
import { openApiOf } from '../../src/contract/openapi.ts'
import { hostNames } from '../../src/contract/schema.ts'

export const generatedFiles = (): ReadonlyMap<string, string> =>
  new Map([
    ...hostNames.map((host): [string, string] => [
      `openapi/${hostFacts[host].file}.json`,
      `${JSON.stringify(openApiOf(host), null, 2)}\n`,
    ]),
    ['docs/reference/errors.md', errorsMarkdown()],
  ])
