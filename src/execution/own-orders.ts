/** The names under which brokers know orders: which of them are of this installation, and of which order. */
import {
  type ClientOrderKey,
  clientOrderIdPrefix,
  parseClientOrderId,
} from '../domain/orders/client-order-id.ts'

/** Whether a name begins as ours do, also where the rest of it cannot be read. */
export const isOurs = (environment: string, clientOrderId: string | null): boolean =>
  clientOrderId?.toUpperCase().startsWith(clientOrderIdPrefix(environment)) === true

/** Which order of ours a name is of; null where it is not one of ours. */
export function ourOrderKey(environment: string, clientOrderId: string | null): ClientOrderKey | null {
  const key = clientOrderId === null ? null : parseClientOrderId(clientOrderId)
  return key?.environment === environment ? key : null
}
