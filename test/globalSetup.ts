// One throwaway cluster for the whole run: the extension, graphile-worker, pgTAP and what the pgTAP files share in a template database.

import { mkdtempSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import { readFile, writeFile } from 'node:fs/promises';
import { createRequire } from 'node:module';
import { tmpdir } from 'node:os';
import { dirname, join } from 'node:path';
import { execFile } from 'node:child_process';
import { promisify } from 'node:util';

import { runMigrations } from 'graphile-worker';
import pg from 'pg';
import type { TestProject } from 'vitest/node';

import { cpuSeconds } from './cpu.ts';
import { placePljs } from './pljs.ts';
import { startThrowaway } from '../runtime/install/throwaway.ts';

declare module 'vitest' {
  export interface ProvidedContext {
    serverUrl: string;
    serverLog: string;
    /** Where each file says what it cost. */
    costs: string;
  }
}

export const template = 'work_ledger_template';

/** Names a cluster that is there already, for whoever starts many runs. */
export const CLUSTER = 'WORK_LEDGER_TEST_CLUSTER';
export type Cluster = { serverUrl: string; serverLog: string; serverPid?: number; stop(): Promise<void> };

export default async function setup(project: TestProject): Promise<() => Promise<void>> {
  const given = process.env[CLUSTER];
  const cluster: Cluster = given === undefined ? await startCluster() : { ...(JSON.parse(given) as Cluster), stop: async () => {} };
  project.provide('serverUrl', cluster.serverUrl);
  project.provide('serverLog', cluster.serverLog);
  const folder = mkdtempSync(join(tmpdir(), 'wl-costs-'));
  const costs = join(folder, 'costs');
  writeFileSync(costs, '');
  project.provide('costs', costs);
  return async () => {
    console.log(dearest(readFileSync(costs, 'utf8')));
    if (cluster.serverPid !== undefined)
      console.log(`${cpuSeconds(cluster.serverPid).toFixed(1).padStart(8)}             CPU of the server: what is executing also waits`);
    rmSync(folder, { recursive: true });
    await cluster.stop();
  };
}

/** The files that cost most, a line each, and all together; of the lines that test/fileCost.ts adds. */
function dearest(lines: string): string {
  const costs = lines
    .split('\n')
    .filter(Boolean)
    .map((line) => JSON.parse(line) as { file: string; cpu: number; server: number });
  const row = (name: string, cpu: number, server: number): string =>
    `${cpu.toFixed(1).padStart(8)}  ${server.toFixed(1).padStart(9)}  ${name}`;
  const sum = (of: 'cpu' | 'server'): number => costs.reduce((total, cost) => total + cost[of], 0);
  const most = costs.toSorted((a, b) => b.cpu + b.server - a.cpu - a.server).slice(0, Number(process.env['COSTS'] ?? 15));
  return [
    '',
    '     CPU  executing  seconds of the test files that cost most',
    ...most.map((cost) => row(cost.file, cost.cpu, cost.server)),
    row(`all ${costs.length}`, sum('cpu'), sum('server')),
  ].join('\n');
}

/** A cluster with the template; its server ends with this process, if nobody stops it. */
export async function startCluster(): Promise<Cluster> {
  const embedded = await startThrowaway({ isDurable: false });

  const tarball = join(dirname(createRequire(import.meta.url).resolve('@electric-sql/pglite-pgtap')), 'pgtap.tar.gz');
  await promisify(execFile)('tar', [
    '-xzf',
    tarball,
    '-C',
    embedded.extensionDir,
    '--strip-components=2',
    '--no-same-owner',
    '--wildcards',
    'share/postgresql/extension/*',
  ]);

  // The tests' ledger is in a schema of another name than the extension's own, so that nothing hangs on that name.
  const control = join(embedded.extensionDir, 'extension', 'work_ledger.control');
  await writeFile(control, (await readFile(control, 'utf8')).replace(/^schema = .*\n/m, ''));

  placePljs(embedded.extensionDir);
  const serverUrl = embedded.url.replace(/[^/]*$/, '');
  const admin = new pg.Client({ connectionString: `${serverUrl}postgres` });
  await admin.connect();
  // Many tests look at rows that they do not commit. Statistics that are taken meanwhile say that there are none.
  await admin.query(`alter system set autovacuum_naptime = '1h'`);
  await admin.query('select pg_reload_conf()');
  await admin.query(`create database ${template}`);
  await admin.end();
  const url = `${serverUrl}${template}`;
  await runMigrations({ connectionString: url });
  const client = new pg.Client({ connectionString: url });
  await client.connect();
  await client.query('create schema ledger; create extension work_ledger schema ledger; create extension pgtap schema public');
  await client.query(`set search_path to ledger, public; ${await readFile(new URL('sql/_fixtures.sql', import.meta.url), 'utf8')}`);
  await client.end();

  return {
    serverUrl,
    serverLog: join(embedded.dataDir, 'postgres.log'),
    serverPid: Number((await readFile(join(embedded.dataDir, 'cluster', 'postmaster.pid'), 'utf8')).split('\n')[0]),
    stop: embedded.stop,
  };
}
