/** The operator's word about the secrets of the installation. */
import type { Command } from 'commander'
import { enterSecretMarks, forgetSecretMarks } from '../storage/secret-marks.ts'
import { noteCommand } from './acting.ts'
import { putHeadsAside } from './audit-heads.ts'
import { marksOf } from './secrets.ts'
import { type Output, say, type Tool, withDatabase } from './tool.ts'

/** Adds secrets accept. */
export function addSecretCommands(tool: Tool, secrets: Command): void {
  tool(secrets, 'accept', 'go on with the present secrets where those of the database are lost').action(
    (output: Output) =>
      withDatabase(async (db, config) => {
        await db.transaction(async (tx) => {
          await forgetSecretMarks(tx)
          await enterSecretMarks(tx, marksOf(config))
          await noteCommand(tx, 'secrets')
        })
        putHeadsAside(config)
        const advice = 'issue new access keys (the demo writes its own anew once demo-keys.json is removed)'
        say(output, { accepted: true }, `The present secrets count from now on: ${advice}.`)
      }),
  )
}
