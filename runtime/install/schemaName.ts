// What the schema of a ledger may be called, and how psql is told of it.

import pg from 'pg';

import { UsageError } from '../ledger/errors.ts';

/** PostgreSQL cuts off what is longer. */
const MAX_BYTES = 63;

/** Throws UsageError for a name under which no ledger is made. */
export function checkSchemaName(schema: string): void {
  const why =
    Buffer.byteLength(schema) > MAX_BYTES
      ? `a name has at most ${MAX_BYTES} bytes, this one ${Buffer.byteLength(schema)}`
      : schema.startsWith('pg_') || schema === 'information_schema'
        ? "that name is PostgreSQL's own"
        : schema === 'graphile_worker'
          ? "that schema is graphile-worker's"
          : null;
  if (why !== null) throw new UsageError(`no ledger can be in schema "${schema}": ${why}. Name another one with --schema`);
}

/** What makes a ledger's functions and tables known by their names, in `set search_path to …`. */
export const searchPathOf = (schema: string): string => `${pg.escapeIdentifier(schema)}, public`;
