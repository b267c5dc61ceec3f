/**
 * KYC data as it is kept: every part sealed with a key of the record, bound to its person and its place; the key
 * sealed with the platform's.
 */
import type { ParamsOf } from '../../contract/index.ts'
import { newSealingKey, seal, unseal } from '../../storage/database/sealing.ts'
import type { SealedInfo } from '../../storage/people/kyc.ts'
import type { Photos } from './photos.ts'

interface Info {
  readonly fields: Omit<ParamsOf<'AddKYCInfo'>, 'UserToken' | 'PhotoId1' | 'PhotoId2'>
  readonly photos: Photos
}

const place = (personId: number, part: string): string => `kyc of person ${personId}: ${part}`

/** Seals with a new key. */
export function sealInfo(platformKey: Buffer, personId: number, { fields, photos }: Info): SealedInfo {
  const key = newSealingKey()
  const sealed = (part: string, plain: Uint8Array): Buffer => seal(key, plain, place(personId, part))
  return {
    sealedKey: seal(platformKey, key, place(personId, 'key')),
    fields: sealed('fields', Buffer.from(JSON.stringify(fields))),
    photo1: photos[0] && sealed('photo 1', photos[0]),
    photo2: photos[1] && sealed('photo 2', photos[1]),
  }
}

/** Opens what was sealed. Throws when a part was changed or belongs to somebody else. */
export function openInfo(platformKey: Buffer, personId: number, info: SealedInfo): Info {
  const key = unseal(platformKey, info.sealedKey, place(personId, 'key'))
  const plain = (part: string, sealed: Buffer): Buffer => unseal(key, sealed, place(personId, part))
  return {
    fields: JSON.parse(plain('fields', info.fields).toString()) as Info['fields'],
    photos: [info.photo1 && plain('photo 1', info.photo1), info.photo2 && plain('photo 2', info.photo2)],
  }
}
