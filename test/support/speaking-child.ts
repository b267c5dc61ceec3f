/** A process that goes on to speak on both of its outputs, and ends in peace after a second of it. */
import { outlivesReaders } from '../../src/bin/process.ts'

outlivesReaders()
const speaking = setInterval(() => {
  console.log('said')
  console.error('said')
}, 20)
setTimeout(() => clearInterval(speaking), 1_000)
