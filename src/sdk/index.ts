/** The typed client and what it throws. */
export { type CallOptions, type Client, type ClientOptions, createClient, type Page } from './client.ts'
export { ApiError, type ErrorElement } from './error.ts'
