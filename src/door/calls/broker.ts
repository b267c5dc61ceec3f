/** What the scripted broker does on command. */
import { type DoorCall, notOffered } from '../call.ts'

export const brokerCalls: readonly DoorCall[] = [notOffered('/broker', 'The scripted broker')]
