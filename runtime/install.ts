// Installs the ledger as a plain script, for servers where nobody can add extension files: the same sources that
// `create extension work_ledger` runs, in one transaction.

import { runMigrations } from 'graphile-worker';
import pg from 'pg';

import { plainScript } from './extensionSource.ts';

export type Installed = { schema: string; version: string; form: 'extension' | 'script'; changed: boolean };

/** Brings graphile-worker's schema and the ledger into the database. On a ledger that is there it renews the functions only. */
export async function installLedger(url: string, schema: string): Promise<Installed> {
  await runMigrations({ connectionString: url });
  const client = new pg.Client({ connectionString: url });
  await client.connect();
  try {
    // Two installers at once: the second waits and finds the work done.
    await client.query('begin');
    await client.query(`select pg_advisory_xact_lock(hashtextextended('work_ledger install', 0))`);
    const isThere = (await client.query('select to_regclass($1) is not null as there', [`${client.escapeIdentifier(schema)}.work_ledger`])).rows[0].there as boolean;
    const extension = await client.query(
      `select from pg_extension e join pg_namespace n on n.oid = e.extnamespace where e.extname = 'work_ledger' and n.nspname = $1`,
      [schema],
    );
    const form = extension.rowCount === 1 ? 'extension' : 'script';
    if (form === 'script') {
      await client.query(`create schema if not exists ${client.escapeIdentifier(schema)}`);
      await client.query(plainScript(schema, isThere ? 'api' : 'all'));
    }
    const version = (await client.query(`select ${client.escapeIdentifier(schema)}.work_ledger_version() as version`)).rows[0].version as string;
    await client.query('commit');
    return { schema, version, form, changed: !isThere };
  } catch (error) {
    await client.query('rollback').catch(() => {});
    throw error;
  } finally {
    await client.end();
  }
}
