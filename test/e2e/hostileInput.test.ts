// Whatever a page, a model or code says, a worker's heartbeat goes on: a real worker, at the shortest lease that there is, reads
// hostile input again and again, and the lease under which it does so is renewed meanwhile.

import { mkdtemp, rm, writeFile } from 'node:fs/promises';
import { createServer } from 'node:http';
import type { AddressInfo } from 'node:net';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { fileURLToPath } from 'node:url';

import { afterAll, beforeAll, expect, test } from 'vitest';

import { openDb } from '../../runtime/ledger/db.ts';
import type { Db } from '../../runtime/ledger/db.ts';
import type { ScriptedModel } from '../../runtime/model/scriptedModel.ts';
import { createDatabase } from '../database.ts';
import type { TestDatabase } from '../database.ts';
import { call, calls, done, startTeam } from '../team.ts';
import { startWorkerProcess, until } from '../workerProcess.ts';
import type { WorkerProcess } from '../workerProcess.ts';

const LEASE_SECONDS = 1;
const BEATS = 4;
const page = createServer((_, response) => response.setHeader('content-type', 'text/html').end('<!--'.repeat(249_990)));
const expected = { page: '[200 ', braces: 'too long', stars: 'takes too long', brackets: 'at most 64 levels deep' };
let database: TestDatabase;
let db: Db;
let directory: string;
let model: ScriptedModel;
let worker: WorkerProcess;

beforeAll(async () => {
  database = await createDatabase();
  db = await openDb(database.url, 'ledger');
  directory = await mkdtemp(join(tmpdir(), 'hostile-input-'));
  await writeFile(join(directory, 'a'.repeat(200)), '');
  await new Promise<void>((resolve) => page.listen(0, '127.0.0.1', resolve));
  model = await startTeam(
    Object.fromEntries(
      Object.entries(expected).map(([kind, words]) => [
        kind,
        ({ exchange, results }) => (exchange === 0 ? calls(call('read_hostile', { kind, expected: words })) : done(results.join('|'))),
      ]),
    ),
  );
  await db.facultySave({
    name: 'reader',
    accepts: ['read'],
    recover: { max_attempts: 20 },
    engage: {
      tools: ['read_hostile'],
      workspace: 'host',
      workspace_dir: directory,
      web_fetch_allow: [`127.0.0.1:${(page.address() as AddressInfo).port}`],
    },
  });
  worker = await startWorkerProcess({
    url: database.url,
    modelUrl: model.url,
    leaseSeconds: LEASE_SECONDS,
    args: ['--schema', 'ledger', '--tools', fileURLToPath(new URL('../fixtures/hostileTool.ts', import.meta.url))],
  });
});
afterAll(async () => {
  await worker?.end('SIGKILL'); // one that is held hears nothing else
  await model?.close();
  await db?.close();
  await database?.drop();
  page.close();
  await rm(directory, { recursive: true, force: true });
});

test.each(Object.keys(expected))('a lease of a second is renewed while its holder reads hostile %s', async (kind) => {
  const { id } = await db.workSubmit({ workType: 'read', description: kind });
  /**
   * When each lease would have expired, as seen while it was reading. A busy machine may cost it one or another: it begins again under the
   * next.
   */
  const expiries = new Map<number, Set<string>>();
  await until(async () => {
    const [seen] = await database.query<{ outcome: unknown; generation: number; expiry: string | null; is_reading: boolean }>(`
      select w.outcome_data as outcome, f.lease_generation as generation, f.lease_expires_at::text as expiry,
             exists (select from tool_calls k where k.work_item_id = w.id and k.tool_name = 'read_hostile' and k.started_at >= f.leased_at and k.completed_at is null) as is_reading
        from work_items w join foci f on f.id = w.focus_id
       where w.id = '${id}'`);
    if (!seen) return false;
    if (seen.outcome) throw new Error(`it ended: ${JSON.stringify(seen.outcome)}`);
    if (seen.is_reading && seen.expiry !== null)
      expiries.set(seen.generation, (expiries.get(seen.generation) ?? new Set()).add(seen.expiry));
    return [...expiries.values()].some((each) => each.size > BEATS);
  });
  await db.workCancel(id, null);
  expect(await until(async () => (await db.workItem(id))?.state === 'cancelled')).toBe(true);
});
