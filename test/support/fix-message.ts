/** Messages of a FIX counterparty for tests, written as their fields. */
import type { FixMessage } from '../../src/execution/brokers/fix/message.ts'

/** A message of `tag=value` pairs between bars, MsgType 35 and MsgSeqNum 34 among them or 8 and 1. */
export function fixMessage(text: string): FixMessage {
  const fields = text
    .split('|')
    .filter((field) => field !== '')
    .map((field) => {
      const equals = field.indexOf('=')
      return [Number(field.slice(0, equals)), field.slice(equals + 1)] as const
    })
  const all = (tag: number): string[] => fields.filter(([name]) => name === tag).map(([, value]) => value)
  return { type: all(35)[0] ?? '8', seqNum: Number(all(34)[0] ?? 1), all }
}
