// A temporary ledger that a program creates for itself and drops when it ends, in a schema with a random name, whose comment says which
// process created it. A program that creates another one drops those whose process is gone, and nothing else: none whose comment is missing
// or names another schema, none that is in use, none that was kept.

import { randomBytes } from 'node:crypto';
import { setTimeout as sleep } from 'node:timers/promises';

import type pg from 'pg';
import { z } from 'zod';

import { withConnection } from '../ledger/connection.ts';
import { sqlState } from '../ledger/errors.ts';
import { installLedger } from './installLedger.ts';
import { ownMark, processMark, runs } from './processMark.ts';

export type Scratch = { url: string; schema: string; /** Drops it, unless it is to be kept. */ remove(): Promise<void> };

const said = processMark.extend({ work_ledger: z.literal('scratch'), schema: z.string(), kept: z.boolean(), at: z.string() });
const names = String.raw`^work_ledger_demo_[0-9a-f]{16}$`;

/** How often its process reports that it is alive, for others that cannot see it, and after how long they consider it dead. */
const BEAT_MS = 60_000;
const SILENT_MS = 3_600_000;

/**
 * Creates one, and drops what dead programs left. With `isKept`, `remove()` keeps it. Ends with a ledger that is ready, or with nothing.
 */
export async function makeScratch(url: string, { isKept = false } = {}): Promise<Scratch> {
  const schema = `work_ledger_demo_${randomBytes(8).toString('hex')}`;
  await withConnection({ connectionString: url }, async (client) => {
    await dropLeft(client);
    // Created with its comment, so that its process can be identified at any moment.
    await client.query(`begin; create schema ${schema}; ${commentOn(client, schema, isKept)}; commit`);
  });
  const beat = setInterval(
    () => void withConnection({ connectionString: url }, (client) => client.query(commentOn(client, schema, isKept))).catch(() => {}),
    BEAT_MS,
  ).unref();
  const drop = async (): Promise<void> => {
    clearInterval(beat);
    await withConnection({ connectionString: url }, (client) => dropSchema(client, schema, 30));
  };
  try {
    await installLedger(url, schema);
  } catch (error) {
    await drop().catch(() => {}); // if that fails, its comment lets a later program drop it
    throw error;
  }
  return { url, schema, remove: isKept ? async () => clearInterval(beat) : drop };
}

const commentOn = (client: pg.Client, schema: string, kept: boolean): string =>
  `do $do$ begin execute format('comment on schema ${schema} is %L', jsonb_build_object('at', now()) || ${client.escapeLiteral(JSON.stringify({ work_ledger: 'scratch', schema, kept, ...ownMark() }))}); end $do$`;

/** Drops the schemas of programs that are gone, as far as this role may; never throws for one that cannot be dropped. */
export async function dropLeft(client: pg.Client): Promise<void> {
  // Only its owner can comment on a schema, so a comment can only invite those who may drop it anyway.
  const { rows } = await client.query<{ schema: string; comment: string; now: Date }>(
    `
    select n.nspname as schema, d.description as comment, now() as now
      from pg_namespace n
      join pg_description d on d.objoid = n.oid and d.classoid = 'pg_namespace'::regclass
     where n.nspname ~ $1 and pg_has_role(n.nspowner, 'usage')`,
    [names],
  );
  for (const { schema, comment, now } of rows) {
    const { data } = said.safeParse(parsed(comment));
    if (data === undefined || data.schema !== schema || data.kept) continue;
    const isRunning = runs(data);
    const isSilent = now.getTime() - Date.parse(data.at) > SILENT_MS;
    if (isRunning === false || (isRunning === null && isSilent)) await dropSchema(client, schema, 3).catch(() => {});
  }
}

function parsed(text: string): unknown {
  try {
    return JSON.parse(text);
  } catch {
    return null;
  }
}

/** Drops the schema with the jobs of its own tasks: other ledgers of the database have their own tasks. */
async function dropSchema(client: pg.Client, schema: string, tries: number): Promise<void> {
  const quoted = client.escapeIdentifier(schema);
  const tasks = `select id from graphile_worker._private_tasks where starts_with(identifier, ${client.escapeLiteral(`${schema}/`)})`;
  const {
    rows: [found],
  } = await client.query<{ is: boolean }>(`select to_regclass('graphile_worker._private_tasks') is not null as is`);
  const jobs = found?.is
    ? `delete from graphile_worker._private_jobs where task_id in (${tasks}); delete from graphile_worker._private_tasks where id in (${tasks});`
    : '';
  for (let left = tries; ; left--) {
    try {
      await client.query(`begin; set local lock_timeout = 500; ${jobs} drop schema if exists ${quoted} cascade; commit`);
      return;
    } catch (error) {
      await client.query('rollback');
      // An abandoned statement may still hold a lock on one of its tables.
      if (left <= 1 || !['55P03', '40P01'].includes(sqlState(error) ?? '')) throw error;
    }
    await sleep(500);
  }
}
