/**
 * The files that an address of a database names for TLS. One that can be read and holds something else is passed over by
 * the library without a word, or refused in words of its own; then the server's certificate would seem to be the matter.
 */
import { createPrivateKey, X509Certificate } from 'node:crypto'
import { readFileSync } from 'node:fs'
import { AddressUnusable } from './failure.ts'

const contents = {
  sslrootcert: { is: 'certificate', read: certificateIn },
  sslcert: { is: 'certificate', read: certificateIn },
  sslkey: { is: 'private key without a passphrase', read: createPrivateKey },
}

/** Throws `AddressUnusable` for a file without what it is named for. One that cannot be read the driver names. */
export function checkFiles(url: string): void {
  const named = new URLSearchParams(url.split('?')[1])
  for (const [name, { is, read }] of Object.entries(contents)) {
    const file = named.get(name)
    const text = file ? textOf(file) : undefined
    if (text !== undefined && !isRead(text, read))
      throw new AddressUnusable(
        `${file}, which DATABASE_URL names by ${name}, cannot be used: there is no ${is} in it, as PEM`,
      )
  }
}

function textOf(file: string): string | undefined {
  try {
    return readFileSync(file, 'utf8')
  } catch {
    return undefined
  }
}

function isRead(text: string, read: (text: string) => unknown): boolean {
  try {
    read(text)
    return true
  } catch {
    return false
  }
}

/** The first one: others may stand behind it. */
function certificateIn(text: string): X509Certificate {
  return new X509Certificate(text)
}
