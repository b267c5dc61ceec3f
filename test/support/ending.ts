/** Ends what a file of tests has begun, for every file. */
import { afterAll } from 'vitest'
import { endFile } from './after-file.ts'

afterAll(endFile)
