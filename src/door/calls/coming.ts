/** Calls whose subject a later version builds; they say so instead of pretending. */
import { type DoorCall, notOffered } from '../call.ts'

export const comingCalls: readonly DoorCall[] = [notOffered('/corporate-actions', 'Dividends and splits')]
