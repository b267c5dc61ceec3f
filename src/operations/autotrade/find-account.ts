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

/** The one account that is meant. Refuses one that is not there, and a number that two brokers gave. */
export async function findAccount(ctx: Context, wanted: AccountAsked): Promise<AccountRow | Refused> {
  const [account, second] = await listAccounts(ctx.sql, {
    account: wanted.Account,
    personId: personMeant(ctx, wanted),
    brokerId: wanted.BrokerId,
  })
  if (!account) return refuse('NotFound', wanted.BrokerId === undefined ? 'Account' : 'BrokerId')
  if (second) return refuse('BadCombination', 'BrokerId', 'Several brokers have an account of this number')
  return account
}
