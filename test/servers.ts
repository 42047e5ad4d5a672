// The newest PostgreSQL that a ledger runs on, and the oldest: databases on each, where `create extension work_ledger` finds this version
// and those before it.

import { randomBytes } from 'node:crypto';
import { chmod, mkdir, mkdtemp, rm, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';

import pg from 'pg';

import { controlFile, extensionScripts } from '../sql/extensionSource.ts';
import { createDatabase } from './database.ts';
import { noDebian, startDebian } from './debian.ts';
import type { DebianServer } from './debian.ts';
import { earlierVersions, releasedExtension } from './released.ts';

export type Database = { url: string; query<Row extends pg.QueryResultRow>(sql: string): Promise<Row[]>; drop(): Promise<void> };

/** What a server has where the extension's files were put. */
async function layOutExtension(folder: string, versions: readonly string[] = earlierVersions()): Promise<void> {
  await writeFile(join(folder, 'work_ledger.control'), controlFile().replace(/^schema = .*\n/m, ''));
  for (const [name, script] of extensionScripts()) await writeFile(join(folder, name), script);
  for (const earlier of versions) await writeFile(join(folder, `work_ledger--${earlier}.sql`), releasedExtension(earlier));
}

export async function newest(): Promise<{ create(): Promise<Database>; stop(): Promise<void> }> {
  const folder = await mkdtemp(join(tmpdir(), 'wl-upgrade-'));
  await chmod(folder, 0o755);
  await mkdir(join(folder, 'extension'));
  await layOutExtension(join(folder, 'extension'));
  return {
    async create() {
      const database = await createDatabase({ from: null });
      await database.query(
        `do $$ begin execute format('alter database %I set extension_control_path = %L', current_database(), '${folder}:$system'); end $$`,
      );
      return database;
    },
    stop: () => rm(folder, { recursive: true }),
  };
}

export async function oldest(): Promise<{ create(): Promise<Database>; stop(): Promise<void> }> {
  const server: DebianServer = await startDebian(15);
  await layOutExtension(server.extensionDir);
  const run = async <Row extends pg.QueryResultRow>(name: string, sql: string): Promise<Row[]> => {
    const client = new pg.Client({ connectionString: `${server.serverUrl}${name}` });
    await client.connect();
    try {
      return (await client.query<Row>(sql)).rows;
    } finally {
      await client.end();
    }
  };
  return {
    async create() {
      const name = `test_${randomBytes(6).toString('hex')}`;
      await run('postgres', `create database ${name}`);
      await run('postgres', `alter database ${name} set search_path to ledger, public`);
      return {
        url: `${server.serverUrl}${name}`,
        query: (sql) => run(name, sql),
        drop: async () => void (await run('postgres', `drop database ${name} with (force)`)),
      };
    },
    stop: () => server.stop(),
  };
}

/** Null: the oldest can be started here; else why not. */
export const noOldest = noDebian(15);
if (noOldest !== null) console.warn(`nothing is tested on PostgreSQL 15: ${noOldest}`);

/** For describe.each; one whose `missing` is not null is skipped. */
export const servers = [
  { server: 'PostgreSQL 18', start: newest, missing: null },
  { server: 'PostgreSQL 15', start: oldest, missing: noOldest },
];
