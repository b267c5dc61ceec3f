/** The operator's word about the secrets of the installation, and the keys by which customers' are sealed. */
import type { Command } from 'commander'
import { enterSecretMarks, forgetSecretMarks, listForeignSecrets } from '../storage/operating/secret-marks.ts'
import { countOtherwiseWrapped, rotateCredentials } from '../storage/people/credentials.ts'
import { rewrapWebhookSecrets } from '../storage/people/webhooks.ts'
import { noteCommand } from './acting.ts'
import { putHeadsAside } from './audit-heads.ts'
import { marksOf, openSecrets } from './secrets.ts'
import { type Output, say, tool, withPlatform } from './tool.ts'

/** Adds secrets accept and credentials rotate. */
export function addSecretCommands(program: Command): void {
  const secrets = program.command('secrets').description('what the platform itself keeps secret')
  tool(secrets, 'accept', 'go on with the present secrets where those of the database are lost').action(
    acceptSecrets,
  )
  const credentials = program.command('credentials').description('what customers entrust for their brokers')
  tool(credentials, 'rotate', 'wrap every credential by the first key of the ring').action(rotate)
}

const acceptSecrets = (output: Output): Promise<void> =>
  withPlatform(async (db, config) => {
    const marks = marksOf(config)
    const replaced = await db.transaction(async (tx) => {
      const foreign = await listForeignSecrets(tx, marks)
      await forgetSecretMarks(tx)
      await enterSecretMarks(tx, marks)
      await noteCommand(tx, 'secrets')
      return foreign
    })
    putHeadsAside(config)
    say(output, { accepted: true }, adviceAfter(replaced))
  })

/** What ends with the secrets that others took the place of. */
function adviceAfter(replaced: readonly string[]): string {
  if (replaced.length === 0)
    return 'The present secrets are those that the database was used with: all access keys go on.'
  const advice = replaced.includes('secret')
    ? 'issue new access keys (the demo writes its own anew once demo-keys.json is removed)'
    : 'credentials that the lost key sealed have to be entered again; all access keys go on'
  return `The present secrets count from now on: ${advice}.`
}

const rotate = (output: Output): Promise<void> =>
  withPlatform(async (db, config) => {
    const { keyRing } = await openSecrets(config, db)
    const secrets = await db.transaction((tx) => rewrapWebhookSecrets(tx, keyRing))
    const rotated = secrets + (await rotateCredentials(db, keyRing))
    const left = await countOtherwiseWrapped(db.read, keyRing)
    const shut = `${left} stay shut, because the ring does not hold the key that wrapped them: they have to be entered again.`
    const lines = [`${rotated} credentials are wrapped by the first key.`, ...(left > 0 ? [shut] : [])]
    say(output, { rotated, left }, lines)
    if (left > 0) process.exitCode = 1
  })
