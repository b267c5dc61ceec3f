/** The typed client and what it throws. */
export { createClient } from './client.ts'
export { ApiError } from './error.ts'
