// A ledger for tests: a database of its own, copied from a template that the first test of this version makes.

import { createHash, randomBytes } from 'node:crypto';

import type pg from 'pg';
import { z } from 'zod';

import { build } from '../../sql/extensionSource.ts';
import { findDatabase } from '../install/findLedger.ts';
import { installLedger } from '../install/installLedger.ts';
import { ownMark, processMark, runs } from '../install/processMark.ts';
import { withConnection } from '../ledger/connection.ts';
import { clientOf } from '../client.ts';
import type { LedgerClient } from '../client.ts';
import { openChecked } from '../ledger/db.ts';
import { passTime } from './passTime.ts';
import { seenOf } from './seen.ts';
import type { Seen } from './seen.ts';

const SCHEMA = 'work_ledger';

export type TestLedger = AsyncDisposable & {
  /** For run(), LedgerClient.open(): `run({ ...ledger, task })`. */
  databaseUrl: string;
  schema: string;
  client: LedgerClient;
  /** What a work item did, for assertions. */
  seen: (workItemId: string) => Promise<Seen>;
  /**
   * Lets what is due later be due that much sooner, `passTime('1 day')`: waits and retries of work and their jobs, approvals, the pause of
   * a model that is overloaded. Nothing else grows older: leases, ages in digests and retention, what was recorded. Throws for what is no time
   * ahead.
   */
  passTime: (time: string) => Promise<void>;
  /** Drops the database. What a killed process left is dropped by the next test. */
  drop: () => Promise<void>;
};

/**
 * Makes an empty ledger. `databaseUrl`: any database of a server on which you may create others (default: the embedded one, which is
 * started if need be, and holds nothing of yours that this would touch).
 */
export async function testLedger(options: { databaseUrl?: string } = {}): Promise<TestLedger> {
  const { url } = options.databaseUrl === undefined ? await findDatabase({ databaseUrl: '' }) : await findDatabase(options);
  const name = `work_ledger_test_${randomBytes(8).toString('hex')}`;
  await withConnection({ connectionString: url }, async (client) => {
    await dropLeft(client);
    const template = await templateOn(client, url);
    await client.query(`create database ${name} strategy file_copy template ${template}`);
    await client.query(`comment on database ${name} is ${client.escapeLiteral(JSON.stringify({ work_ledger: 'test', ...ownMark() }))}`);
  });
  const databaseUrl = withDatabase(url, name);
  const db = await openChecked(databaseUrl, SCHEMA, { maximumPoolSize: 3 });
  const drop = async (): Promise<void> => {
    await db.close();
    await withConnection({ connectionString: url }, (client) => client.query(`drop database if exists ${name} with (force)`));
  };
  return {
    databaseUrl,
    schema: SCHEMA,
    client: clientOf(db, databaseUrl),
    seen: (workItemId) => seenOf(db, workItemId),
    passTime: (time) => passTime(databaseUrl, time),
    drop,
    [Symbol.asyncDispose]: drop,
  };
}

/** The name of the template of this build, made if it is not there: by one of those who want it at once. */
async function templateOn(client: pg.Client, url: string): Promise<string> {
  const name = `work_ledger_template_${createHash('sha256').update(build()).digest('hex').slice(0, 16)}`;
  const isThere = async (): Promise<boolean> =>
    (await client.query('select from pg_database where datname = $1 and datistemplate', [name])).rows.length > 0;
  if (await isThere()) return name;
  await client.query(`select pg_advisory_lock(hashtext($1))`, [name]);
  try {
    if (await isThere()) return name;
    await client.query(`drop database if exists ${name} with (force)`); // half made by a process that was killed
    await client.query(`create database ${name}`);
    await installLedger(withDatabase(url, name), SCHEMA);
    await client.query(`alter database ${name} with is_template true`);
    return name;
  } finally {
    await client.query(`select pg_advisory_unlock(hashtext($1))`, [name]);
  }
}

const mark = processMark.extend({ work_ledger: z.literal('test') });

/** Drops the databases of tests whose process is gone. */
async function dropLeft(client: pg.Client): Promise<void> {
  const { rows } = await client.query<{ name: string; comment: string }>(
    `select datname as name, shobj_description(oid, 'pg_database') as comment from pg_database where datname ~ '^work_ledger_test_[0-9a-f]{16}$'`,
  );
  for (const { name, comment } of rows) {
    const { data } = z.preprocess((text) => JSON.parse(String(text)) as unknown, mark).safeParse(comment);
    if (data !== undefined && runs(data) === false) await client.query(`drop database if exists ${name} with (force)`).catch(() => {});
  }
}

function withDatabase(url: string, name: string): string {
  const [, before = '', , after = ''] = /^([a-z]+:\/\/[^/?]*)(?:\/([^?]*))?(\?.*)?$/.exec(url) ?? [];
  if (before === '') throw new TypeError('testLedger: databaseUrl is not like postgresql://user@host:5432/database');
  return `${before}/${name}${after}`;
}
