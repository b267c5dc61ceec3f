/** How this platform marks its access keys and client order ids, so that none is taken for another's. */
import type { Config } from './config.ts'

export interface Environments {
  /** Second part of every access key, lower-case letters. */
  keys: string
  /** Code inside every client order id, capitals or digits. */
  orders: string
}

/** How this installation marks its keys and its orders: live ones, or those of a demo. */
export const environments = (config: Config): Environments =>
  config.production ? { keys: 'live', orders: 'L' } : { keys: 'demo', orders: 'D' }
