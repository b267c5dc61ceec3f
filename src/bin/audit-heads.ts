/**
 * The ends of the audit log's chains, signed, in a file beside the database. Whoever rewrites the database cannot
 * sign; whoever has the public key can tell. The signing key is derived from the secret of the installation.
 */
import { createPrivateKey, createPublicKey, sign, verify } from 'node:crypto'
import { existsSync, readFileSync, renameSync } from 'node:fs'
import { join } from 'node:path'
import type { HeadKeeper } from '../execution/audit-log.ts'
import { writeWhole } from '../postgres/whole-file.ts'
import type { ChainHead } from '../storage/operating/audit-chain.ts'
import { type Config, ConfigError, makeDataDir } from './config.ts'
import { auditSeed } from './secrets.ts'

/** What the file holds, as JSON. */
interface SignedHeads {
  readonly signedAt: string
  readonly heads: readonly ChainHead[]
  /** Base64, over the JSON of the other two. */
  readonly signature: string
}

/** The file with the signed ends of the audit log. */
export const headsFile = (config: Config): string => join(config.dataDir, 'audit-heads.json')

/** What stands before the 32 bytes of an Ed25519 key in PKCS #8 (RFC 8410). */
const pkcs8 = Buffer.from('302e020100300506032b657004220420', 'hex')

const signingKey = (config: Config) =>
  createPrivateKey({ key: Buffer.concat([pkcs8, auditSeed(config)]), format: 'der', type: 'pkcs8' })

/** PEM, for whoever checks a copy of the file elsewhere. */
export const auditPublicKey = (config: Config): string =>
  createPublicKey(signingKey(config)).export({ format: 'pem', type: 'spki' }).toString()

const signed = (signedAt: string, heads: readonly ChainHead[]): Buffer =>
  Buffer.from(
    JSON.stringify({ signedAt, heads: heads.map(({ chain, seq, hash }) => ({ chain, seq, hash })) }),
  )

/** Reads signed heads; undefined where there is no file. Throws ConfigError when the signature is not ours. */
export function readHeads(config: Config, file = headsFile(config)): SignedHeads | undefined {
  if (!existsSync(file)) return undefined
  try {
    const kept = JSON.parse(readFileSync(file, 'utf8')) as SignedHeads
    const text = signed(kept.signedAt, kept.heads)
    const isOurs = verify(
      null,
      text,
      createPublicKey(signingKey(config)),
      Buffer.from(kept.signature, 'base64'),
    )
    if (isOurs) return kept
  } catch {
    // What cannot be read was not signed here.
  }
  throw new ConfigError(`${file} does not hold what this installation signed`)
}

/** Gives the signed heads of a lost secret another name: nobody can sign after them. */
export function putHeadsAside(config: Config): void {
  try {
    readHeads(config)
  } catch {
    renameSync(headsFile(config), `${headsFile(config)}.${Date.now()}`)
  }
}

/** Keeps the heads in the data folder, whole at any moment. With all else given from outside nobody has made it yet. */
export function auditHeads(config: Config): HeadKeeper {
  const file = headsFile(config)
  const key = signingKey(config)
  return {
    load: () => readHeads(config)?.heads ?? [],
    save: (heads) => {
      const signedAt = new Date().toISOString()
      const signature = sign(null, signed(signedAt, heads), key).toString('base64')
      makeDataDir(config)
      writeWhole(file, JSON.stringify({ signedAt, heads, signature }))
    },
  }
}
