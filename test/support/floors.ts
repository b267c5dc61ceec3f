/**
 * The house: which folder of src/ may import which, and which packages. The tidy test holds every import
 * against this table, and docs/architecture.md shows it.
 */
export interface Floor {
  /** Folders of src/ that this one may import. Its own files are always allowed, without a cycle. */
  floors: readonly string[]
  /** Packages; 'node:' stands for Node's own modules. */
  packages: readonly string[]
}

export const floors: Record<string, Floor> = {
  domain: { floors: [], packages: ['decimal.js', 'temporal-polyfill'] },
  contract: { floors: ['domain'], packages: [] },
  sdk: { floors: ['contract'], packages: [] },
  postgres: { floors: [], packages: ['node:', 'pg'] },
  services: {
    floors: ['domain'],
    packages: [
      ...[
        'node:',
        '@node-rs/argon2',
        'ipaddr.js',
        'iso-3166',
        'iso-639-3',
        'libphonenumber-js',
        'nodemailer',
      ],
      'undici',
    ],
  },
  storage: { floors: ['domain'], packages: ['node:', 'pg'] },
  operations: { floors: ['contract', 'storage', 'services', 'domain'], packages: ['node:', 'lru-cache'] },
  execution: {
    floors: ['storage', 'services', 'domain'],
    packages: [
      ...['node:', '@alpacahq/alpaca-trade-api', 'csv-parse', 'jspurefix', 'reflect-metadata'],
      ...['standardwebhooks', 'stripe'],
    ],
  },
  http: { floors: ['operations', 'contract'], packages: ['node:', 'fastify'] },
  demo: {
    floors: ['execution', 'operations', 'storage', 'services', 'domain'],
    packages: ['node:', 'csv-parse', 'vega-datasets', '@visx/mock-data'],
  },
  door: {
    floors: ['http', 'execution', 'operations', 'contract', 'storage', 'services', 'domain'],
    packages: ['node:', 'fastify'],
  },
  bin: {
    floors: [
      ...['door', 'demo', 'http', 'execution', 'operations', 'contract', 'storage', 'services', 'postgres'],
      'domain',
    ],
    packages: ['node:', 'commander', 'pino', 'close-with-grace'],
  },
}
