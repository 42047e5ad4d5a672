// The valid names for a ledger's schema, and its search path for psql.

import pg from 'pg';

import { UsageError } from '../ledger/errors.ts';

/** PostgreSQL truncates longer names. */
const MAX_BYTES = 63;

/** Throws UsageError if a ledger's schema cannot have this name. */
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

/** The value for `set search_path to …` with which a ledger's functions and tables need no schema. */
export const searchPathOf = (schema: string): string => `${pg.escapeIdentifier(schema)}, public`;
