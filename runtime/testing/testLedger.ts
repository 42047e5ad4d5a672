// A ledger for tests: a separate database, copied from a template that the first test with this version creates.

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
import { clientErrors } from '../ledger/clientError.ts';
import { openChecked } from '../ledger/db.ts';
import { lent } from '../ledger/opened.ts';
import { passTime } from './passTime.ts';
import { seenOf } from './seen.ts';
import type { Seen } from './seen.ts';

const SCHEMA = 'work_ledger';

export type TestLedger = AsyncDisposable & {
  /** For run() and LedgerClient.open(): `run({ ...ledger, task })`. */
  databaseUrl: string;
  schema: string;
  client: LedgerClient;
  /** What a work item did, for assertions. */
  seen: (workItemId: string) => Promise<Seen>;
  /**
   * Makes what is due later due that much sooner, `passTime('1 day')`: waits and retries of work and their jobs, approvals, the
   * cooling-down of an overloaded model. Nothing else ages: not leases, ages in digests, retention or recorded times. Throws if the text is
   * not a positive interval.
   */
  passTime: (time: string) => Promise<void>;
  /** Drops the database. Databases left by a killed process are dropped by the next test. */
  drop: () => Promise<void>;
};

/**
 * Creates an empty ledger. `databaseUrl`: any database of a server on which you may create databases (default: the embedded one, which is
 * started if necessary; your data there is not touched).
 */
export function testLedger(options: { databaseUrl?: string } = {}): Promise<TestLedger> {
  return clientErrors('', () => newLedger(options));
}

async function newLedger(options: { databaseUrl?: string }): Promise<TestLedger> {
  const { url } = options.databaseUrl === undefined ? await findDatabase({ databaseUrl: '' }) : await findDatabase(options);
  const name = `work_ledger_test_${randomBytes(8).toString('hex')}`;
  await withConnection({ connectionString: url }, async (client) => {
    await dropLeft(client);
    const { template, isNew } = await usedTemplate(client, url);
    await client.query(`create database ${name} strategy file_copy template ${template}`);
    if (isNew) await dropUnused(client);
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
    client: clientOf(lent(db), databaseUrl),
    seen: (workItemId) => clientErrors(databaseUrl, () => seenOf(db, workItemId)),
    passTime: (time) => clientErrors(databaseUrl, () => passTime(databaseUrl, time)),
    drop,
    [Symbol.asyncDispose]: drop,
  };
}

/** The lock under which templates are recorded as used (shared) and dropped (exclusive). */
const TEMPLATES = `hashtext('work_ledger templates')`;
const usedTemplateMark = z.object({ work_ledger: z.literal('template'), used_on: z.iso.date() });

/** The template of this build, recorded as used today so that it is not dropped. */
async function usedTemplate(client: pg.Client, url: string): Promise<{ template: string; isNew: boolean }> {
  await client.query(`select pg_advisory_lock_shared(${TEMPLATES})`);
  try {
    const { template, isNew } = await templateOn(client, url);
    const { rows } = await client.query<{ today: string; comment: string | null }>(
      `select current_date::text as today, shobj_description(oid, 'pg_database') as comment from pg_database where datname = $1`,
      [template],
    );
    const note = JSON.stringify({ work_ledger: 'template', used_on: rows[0]?.today });
    if (rows[0]?.comment !== note) await client.query(`comment on database ${template} is ${client.escapeLiteral(note)}`).catch(() => {}); // another process just did
    return { template, isNew };
  } finally {
    await client.query(`select pg_advisory_unlock_shared(${TEMPLATES})`);
  }
}

/** Drops templates of other builds that no test has used for a week. If the lock is busy, the next new build's test does it. */
async function dropUnused(client: pg.Client): Promise<void> {
  const lock = await client.query<{ is_mine: boolean }>(`select pg_try_advisory_lock(${TEMPLATES}) as is_mine`);
  if (lock.rows[0]?.is_mine !== true) return;
  try {
    const { rows } = await client.query<{ name: string; comment: string; oldest: string }>(
      `select datname as name, shobj_description(oid, 'pg_database') as comment, (current_date - 7)::text as oldest
         from pg_database where datname ~ '^work_ledger_template_[0-9a-f]{16}$' and datistemplate`,
    );
    for (const { name, comment, oldest } of rows) {
      const { data } = z.preprocess(jsonOf, usedTemplateMark).safeParse(comment);
      if (data !== undefined && data.used_on >= oldest) continue;
      await client.query(`alter database ${name} with is_template false`);
      await client.query(`drop database if exists ${name}`).catch(() => client.query(`alter database ${name} with is_template true`)); // it is in use
    }
  } finally {
    await client.query(`select pg_advisory_unlock(${TEMPLATES})`);
  }
}

function jsonOf(text: unknown): unknown {
  try {
    return JSON.parse(String(text));
  } catch {
    return null;
  }
}

/** The name of this build's template. If it does not exist, one of the processes that want it creates it. */
async function templateOn(client: pg.Client, url: string): Promise<{ template: string; isNew: boolean }> {
  const name = `work_ledger_template_${createHash('sha256').update(build()).digest('hex').slice(0, 16)}`;
  const isThere = async (): Promise<boolean> =>
    (await client.query('select from pg_database where datname = $1 and datistemplate', [name])).rows.length > 0;
  if (await isThere()) return { template: name, isNew: false };
  await client.query(`select pg_advisory_lock(hashtext($1))`, [name]);
  try {
    if (await isThere()) return { template: name, isNew: false };
    await client.query(`drop database if exists ${name} with (force)`); // left half made by a process that was killed
    await client.query(`create database ${name}`);
    await installLedger(withDatabase(url, name), SCHEMA);
    await client.query(`alter database ${name} with is_template true`);
    return { template: name, isNew: true };
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
    const { data } = z.preprocess(jsonOf, mark).safeParse(comment);
    if (data !== undefined && runs(data) === false) await client.query(`drop database if exists ${name} with (force)`).catch(() => {});
  }
}

function withDatabase(url: string, name: string): string {
  const [, before = '', , after = ''] = /^([a-z]+:\/\/[^/?]*)(?:\/([^?]*))?(\?.*)?$/.exec(url) ?? [];
  if (before === '') throw new TypeError('testLedger: databaseUrl is not like postgresql://user@host:5432/database');
  return `${before}/${name}${after}`;
}
