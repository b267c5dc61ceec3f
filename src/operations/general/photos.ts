/** Photos in requests: base64 text, with or without the beginning of a `data:` address. */
import { judgePhoto, photoBytesMax } from '../../domain/people/photo.ts'
import { type Refused, refuse } from '../context.ts'

const names = ['PhotoId1', 'PhotoId2'] as const
const prefix = /^data:image\/[a-z]+;base64,/
const base64 = /^[A-Za-z0-9+/]+={0,2}$/

export type Photos = readonly [Buffer | null, Buffer | null]

/** The bytes of both, null where one was not sent. Refuses what is no photo and what is too large. */
export function readPhotos(
  params: { readonly [Name in (typeof names)[number]]?: string | undefined },
): Photos | Refused {
  const read: (Buffer | null)[] = []
  for (const name of names) {
    const text = params[name]?.replace(prefix, '')
    if (text === undefined) {
      read.push(null)
      continue
    }
    const bytes = base64.test(text) && text.length % 4 === 0 ? Buffer.from(text, 'base64') : undefined
    const verdict = bytes === undefined ? 'NoPhoto' : judgePhoto(bytes)
    if (bytes === undefined || verdict === 'NoPhoto')
      return refuse('InvalidParameter', name, 'Must be a whole JPEG, PNG or WebP photo as base64 text')
    if (verdict === 'TooLarge')
      return refuse(
        'InvalidParameter',
        name,
        `A photo has at most ${photoBytesMax / 1_048_576} MiB and 20000 pixels a side`,
      )
    read.push(bytes)
  }
  return [read[0] ?? null, read[1] ?? null]
}
