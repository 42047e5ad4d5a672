// /metrics, /healthz and /readyz of a worker, a console and an MCP server, as who watches them asks.

import { afterAll, beforeAll, expect, test } from 'vitest';

import { startConsole } from '../../runtime/console/server.ts';
import { openDb } from '../../runtime/ledger/db.ts';
import type { Db } from '../../runtime/ledger/db.ts';
import { scriptOf } from '../../runtime/model/script.ts';
import { startScriptedModel } from '../../runtime/model/scriptedModel.ts';
import { createDatabase } from '../database.ts';
import type { TestDatabase } from '../database.ts';
import { startMcpHttp } from '../mcpHttpProcess.ts';
import { startWorkerProcess, until } from '../workerProcess.ts';

let database: TestDatabase;
let db: Db;
beforeAll(async () => {
  database = await createDatabase();
  db = await openDb(database.url, 'ledger');
  await db.facultySave({ name: 'writer', accepts: ['write'], engage: { workspace: 'none' } });
});
afterAll(async () => {
  await db?.close();
  await database?.drop();
});

const status = async (url: string, headers: Record<string, string> = {}): Promise<number> => {
  const response = await fetch(url, { headers });
  await response.text();
  return response.status;
};
const valueOf = async (url: string, series: string): Promise<number> =>
  Number(
    (await (await fetch(url)).text())
      .split('\n')
      .find((line) => line.startsWith(series))
      ?.split(' ')
      .at(-1),
  );

/** For connections from now on; those that there are end. */
async function setReadOnly(what: string): Promise<void> {
  const name = new URL(database.url).pathname.slice(1);
  await database.query(`begin read write; alter database ${name} ${what}; commit`);
  await database.query(`select pg_terminate_backend(pid) from pg_stat_activity where datname = '${name}' and pid <> pg_backend_pid()`);
}

test('a worker says what is done as it is done, and that it stops', async () => {
  const model = await startScriptedModel(scriptOf([{ content: [{ type: 'text', text: 'Done.' }] }]));
  const worker = await startWorkerProcess({ url: database.url, modelUrl: model.url, args: ['--http', '0'] });
  try {
    const [address = ''] = /http:\/\/127\.0\.0\.1:\d+/.exec(worker.log()) ?? [];
    expect(await status(`${address}/healthz`)).toBe(200);
    expect(await status(`${address}/readyz`)).toBe(200);
    expect(await valueOf(`${address}/metrics`, 'work_workers_alive')).toBe(1);
    const { id } = await db.workSubmit({ workType: 'write', description: 'Write it' });
    await until(async () => (await db.workItem(id))?.resolved_at !== null);
    expect(await valueOf(`${address}/metrics`, 'work_items_ended_total')).toBe(1);
    // What happens is counted every ten seconds.
    await until(async () => (await (await fetch(`${address}/metrics`)).text()).includes('gen_ai_client_operation_duration_seconds_count{'));
    expect(await (await fetch(`${address}/metrics`)).text()).not.toContain('test-key');
    await setReadOnly('set default_transaction_read_only = on');
    await until(async () => (await (await fetch(`${address}/readyz`)).text()) === 'the database takes no writes\n');
    expect(await status(`${address}/metrics`)).toBe(200);
    await setReadOnly('reset default_transaction_read_only');
    await until(async () => (await status(`${address}/readyz`)) === 200);
  } finally {
    await worker.end('SIGTERM');
    await model.close();
  }
});

test('a console on this machine tells its programs; where others reach it /metrics takes a token, probes do not', async () => {
  const own = await startConsole({ url: database.url, schema: 'ledger', port: 0 });
  const open = await startConsole({ url: database.url, schema: 'ledger', port: 0, hostnames: ['ledger.example'] });
  try {
    for (const path of ['metrics', 'healthz', 'readyz']) expect(await status(`${own.address}${path}`), path).toBe(200);
    expect(await valueOf(`${own.address}metrics`, 'work_approvals_waiting')).toBe(0);
    expect(await status(`${open.address}healthz`)).toBe(200);
    expect(await status(`${open.address}readyz`)).toBe(200);
    expect(await status(`${open.address}metrics`)).toBe(401);
    expect(await status(`${open.address}metrics`, { authorization: `Bearer ${'x'.repeat(32)}` })).toBe(401);
    expect(await status(`${open.address}metrics`, { authorization: `Bearer ${open.token}` })).toBe(200);
    const { token } = await db.personAdd('prometheus');
    expect(await status(`${open.address}metrics`, { authorization: `Bearer ${token}` })).toBe(200);
    await db.personRevoke('prometheus');
    expect(await status(`${open.address}metrics`, { authorization: `Bearer ${token}` })).toBe(401);
  } finally {
    await own.close();
    await open.close();
  }
});

test('an MCP server on this machine tells its programs; where others reach it /metrics takes its token', async () => {
  const token = 'a-token-of-sixteen';
  const own = await startMcpHttp({ databaseUrl: database.url, token });
  const open = await startMcpHttp({ databaseUrl: database.url, token, args: ['--allow-host', 'ledger.example'] });
  try {
    for (const path of ['/metrics', '/healthz', '/readyz']) expect(await status(`${own.url.origin}${path}`), path).toBe(200);
    expect(await status(`${own.url.origin}/other`)).toBe(404);
    expect(await status(`${open.url.origin}/readyz`)).toBe(200);
    expect(await status(`${open.url.origin}/metrics`)).toBe(401);
    expect(await status(`${open.url.origin}/metrics`, { authorization: `Bearer ${token}` })).toBe(200);
  } finally {
    await own.end('SIGKILL');
    await open.end('SIGKILL');
  }
});
