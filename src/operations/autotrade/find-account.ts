/** The account that a call names by its number, and by person and broker where the number alone is not enough. */
import { isPlatformAdmin } from '../../domain/people/access.ts'
import { type AccountRow, listAccounts } from '../../storage/accounts/accounts.ts'
import { type Context, type Refused, refuse } from '../context.ts'

export interface AccountAsked {
  readonly Account: string
  readonly PersonId?: number | bigint | undefined
  readonly BrokerId?: number | undefined
}

/** An absent person is the caller; a platform admin may leave it out for anybody's account. */
export const personMeant = ({ caller }: Context, wanted: Pick<AccountAsked, 'PersonId'>) =>
  wanted.PersonId ?? (isPlatformAdmin(caller) ? undefined : caller.personId)

/** Of accounts of one number those that may be meant, where an operation takes no broker; at least one. */
export type Choose = (
  accounts: readonly AccountRow[],
) => readonly AccountRow[] | Promise<readonly AccountRow[]>

/** The one account that is meant. Refuses one that is not there, and a number that two brokers gave. */
export async function findAccount(
  ctx: Context,
  wanted: AccountAsked,
  choose?: Choose,
): Promise<AccountRow | Refused> {
  const found = await listAccounts(ctx.sql, {
    account: wanted.Account,
    personId: personMeant(ctx, wanted),
    brokerId: wanted.BrokerId,
  })
  const [account, second] = choose && found.length > 1 ? await choose(found) : found
  if (!account) return refuse('NotFound', wanted.BrokerId === undefined ? 'Account' : 'BrokerId')
  const named = !choose ? 'BrokerId' : isOfOnePerson(found) ? 'Account' : 'PersonId'
  if (second) return refuse('BadCombination', named, 'Several brokers have an account of this number')
  return account
}

/** Who names nobody, as an operator may, means nobody's account in particular. */
export const isOfOnePerson = (accounts: readonly AccountRow[]): boolean =>
  accounts.every(({ personId }) => personId === accounts[0]?.personId)

/** Those for which it holds, or the first of them all where it holds for none. */
export function preferring(
  accounts: readonly AccountRow[],
  isMeant: (account: AccountRow) => boolean,
): readonly AccountRow[] {
  const meant = accounts.filter(isMeant)
  return meant.length > 0 ? meant : accounts.slice(0, 1)
}
