/** The codes that several ops share. */
import { endedStatuses, liveStatuses } from '../../../src/domain/codes.ts'
import { code } from './shape.ts'

export const side = code('1', '2')
export const type = code('1', '2', '3')
export const openClose = code('O', 'C')
export const securityClass = code('CS', 'FUT', 'OPT', 'FOR')
export const status = code(...liveStatuses, ...endedStatuses)
