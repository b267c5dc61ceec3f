/**
 * Every setting of the embedded server in one table. They are given on the command line, where they win over
 * the files in the data folder, so that a hand-edited postgresql.conf can never switch durability off.
 * Sized for a small machine: two cores shared with Node.
 */
import { join } from 'node:path'

/** Name, value and, where it is not plain, why. Folder-dependent settings are added by `serverArguments`. */
export const serverSettings: Readonly<Record<string, string>> = {
  // Durability: acknowledged means on disk.
  fsync: 'on',
  full_page_writes: 'on',
  synchronous_commit: 'on',
  wal_level: 'replica', // allows base copies while running
  // No TCP port at all: nothing to clash with and nothing to attack from the network.
  listen_addresses: '',
  unix_socket_permissions: '0700',
  port: '5432', // only names the socket file
  password_encryption: 'scram-sha-256',
  max_connections: '100',
  // Memory.
  shared_buffers: '256MB',
  effective_cache_size: '1GB',
  work_mem: '16MB',
  maintenance_work_mem: '128MB',
  // Write-ahead log: checkpoints far apart, crash recovery still about a second.
  wal_buffers: '16MB',
  min_wal_size: '128MB',
  max_wal_size: '1GB',
  checkpoint_timeout: '5min',
  wal_init_zero: 'off', // a commit that needs a new file does not wait until it is filled with zeros (16 MB, 30 ms)
  // Short statements on two cores: no compilation and no helper processes per query (those also need more
  // /dev/shm than containers give).
  jit: 'off',
  max_parallel_workers_per_gather: '0',
  max_parallel_maintenance_workers: '0',
  random_page_cost: '1.1',
  autovacuum_naptime: '15s',
  // Identical text and dates on every machine.
  timezone: 'UTC',
  log_timezone: 'UTC',
  lc_messages: 'C',
  datestyle: 'ISO',
  intervalstyle: 'iso_8601',
  // The server log carries no statements, parameters or key values: they hold personal data.
  logging_collector: 'off',
  log_min_error_statement: 'panic',
  log_error_verbosity: 'terse',
}

/** The socket of the server within its folder of sockets. */
export const socketIn = (folder: string): string => join(folder, `.s.PGSQL.${serverSettings.port}`)

/** Command line of the postmaster for one data folder. */
export function serverArguments(cluster: string, socketFolder: string): string[] {
  // The server reads a list, whose parts may be in quotes: a comma in a path would make two folders of it.
  const quoted = `"${socketFolder.replaceAll('"', '""')}"`
  const settings = { ...serverSettings, unix_socket_directories: quoted }
  return ['-D', cluster, ...Object.entries(settings).flatMap(([name, value]) => ['-c', `${name}=${value}`])]
}
