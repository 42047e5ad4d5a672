// Workers on several hosts over one database: network namespaces stand for the hosts. One is cut off in the middle of its work and
// comes back; a faculty names the hosts of its work.

import { appendFile, mkdtemp, readFile, rm, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';

import { afterAll, beforeAll, describe, expect, test } from 'vitest';

import { openDb } from '../../runtime/ledger/db.ts';
import type { Db } from '../../runtime/ledger/db.ts';
import type { ScriptedModel } from '../../runtime/model/scriptedModel.ts';
import { createDatabase } from '../database.ts';
import type { TestDatabase } from '../database.ts';
import { socketOf } from '../faults/ground.ts';
import { makeHost, noHosts } from '../network.ts';
import type { Host } from '../network.ts';
import { call, calls, done, startTeam } from '../team.ts';
import { forget, startWorkerProcess, until } from '../workerProcess.ts';
import type { WorkerProcess } from '../workerProcess.ts';

const lack = noHosts();
if (lack !== null && process.env['CI'] === undefined) process.stderr.write(`skipped: hosts, for want of network namespaces: ${lack}\n`);

/** Longer than a busy machine holds anything up, so that no lease ends by itself. */
const LEASE_SECONDS = 20;

/** An unsafe tool: a line when it begins; then it waits until its host may go on. */
const pay = `
import { appendFileSync, existsSync } from 'node:fs';
import { setTimeout as sleep } from 'node:timers/promises';
import { z } from '${import.meta.resolve('zod')}';
const place = process.env.PLACE, host = process.env.WORK_LEDGER_HOST;
export default {
  name: 'pay', description: 'Pays.', input: z.strictObject({ item: z.string() }), effect: 'unsafe', risk: 'safe',
  async execute({ item }, { signal }) {
    appendFileSync(place + '/paid', item + ' ' + host + '\\n');
    while (!existsSync(place + '/go-' + host)) await sleep(20);
    return { content: 'paid by ' + host, isError: false };
  },
};
`;

describe.skipIf(lack !== null && process.env['CI'] === undefined)('hosts', () => {
  let database: TestDatabase;
  let db: Db;
  let model: ScriptedModel;
  let place: string;
  const hosts: Host[] = [];
  const workers: WorkerProcess[] = [];
  const arrived: Record<string, string[]> = { left: [], right: [] };

  beforeAll(async () => {
    database = await createDatabase();
    db = await openDb(database.url, 'ledger');
    place = await mkdtemp(join(tmpdir(), 'work-ledger-hosts-'));
    await writeFile(join(place, 'pay.ts'), pay);
    await appendFile(join(place, 'paid'), '');
    model = await startTeam({
      item: ({ exchange, description }) =>
        [
          calls(call('ledger_append', { entry_type: 'note', content: `${description} begun` }), call('pay', { item: description })),
          calls(call('ledger_append', { entry_type: 'note', content: `${description} paid` })),
        ][exchange] ?? done('Done.'),
    });
    await db.facultySave({
      name: 'payer',
      accepts: ['pay'],
      awareness: { enabled: false },
      engage: { tools: ['pay'], workspace: 'none', ledger_nudge_interval: 0 },
    });
    await db.facultySave({
      name: 'left only',
      accepts: ['pay on the left'],
      hosts: ['left'],
      awareness: { enabled: false },
      engage: { tools: ['pay'], workspace: 'none', ledger_nudge_interval: 0 },
    });
    hosts.push(makeHost('left'), makeHost('right'));
  });
  afterAll(async () => {
    for (const worker of workers) await worker.end('SIGKILL').catch(() => {});
    for (const host of hosts) await host.remove();
    await model?.close();
    await db?.close();
    await database?.drop();
    if (place) await rm(place, { recursive: true, force: true });
  });

  async function start(host: Host): Promise<WorkerProcess> {
    const server = await host.reach({ path: socketOf(database.url) }, (chunk) => arrived[host.name]?.push(chunk.toString('latin1')));
    const asked = await host.reach({ host: '127.0.0.1', port: Number(new URL(model.url).port) });
    const url = new URL(database.url);
    url.hostname = server.address;
    url.port = String(server.port);
    const worker = await startWorkerProcess({
      url: url.href,
      modelUrl: `http://${asked.address}:${asked.port}`,
      within: host.within,
      leaseSeconds: LEASE_SECONDS,
      args: ['--tools', join(place, 'pay.ts'), '--host', host.name, '--concurrency', '4'],
      env: { PLACE: place, WORK_LEDGER_HOST: host.name },
    });
    workers.push(worker);
    return worker;
  }
  const paid = async (): Promise<string[]> => (await readFile(join(place, 'paid'), 'utf8')).split('\n').filter(Boolean);
  const submit = async (workType: string, description: string): Promise<string> => (await db.workSubmit({ workType, description })).id;
  const ended = (id: string) => until(async () => (await db.workItem(id))?.resolved_at);
  /** Everything that is stored about items. */
  const stored = async (ids: string[]): Promise<unknown> =>
    database.query(`
    select w.id, (select jsonb_agg(to_jsonb(l) order by l.seq) from ledger.work_ledger l where l.work_item_id = w.id) as entries,
           (select jsonb_agg(to_jsonb(t) order by t.id) from ledger.turns t where t.work_item_id = w.id) as turns,
           (select jsonb_agg(to_jsonb(k) order by k.id) from ledger.tool_calls k where k.work_item_id = w.id) as calls,
           (select jsonb_agg(to_jsonb(f) order by f.id) from ledger.foci f where f.work_item_id = w.id) as foci, to_jsonb(w) as item
      from ledger.work_items w where w.id in (${ids.map((id) => `'${id}'`).join()}) order by w.id`);

  test('one that is cut off in the middle of its work writes nothing of it, others take over, and it works again when it is back', async () => {
    const [left, right] = hosts as [Host, Host];
    const before = await start(left);
    const ids = await Promise.all(Array.from({ length: 4 }, (_, n) => submit('pay', `item ${n}`)));
    await until(async () => (await paid()).length === 4);
    await writeFile(join(place, 'go-right'), '');
    await start(right);
    ids.push(...(await Promise.all(Array.from({ length: 4 }, (_, n) => submit('pay', `item ${n + 4}`)))));

    left.cut();
    const heard = arrived['left']?.length ?? 0;
    await writeFile(join(place, 'go-left'), ''); // its calls end, and their results go nowhere
    await forget(database, `host = 'left'`);
    for (const id of ids) await ended(id);
    const then = await stored(ids);
    expect((await database.query<{ host: string }>('select host from ledger.workers')).map(({ host }) => host)).toEqual(['right']);

    left.mend();
    // What it sent while it was cut off arrives now, and is refused.
    await until(() => arrived['left']?.slice(heard).some((chunk) => chunk.includes('iteration_step')));
    await until(async () => (await database.query(`select from ledger.workers where host = 'left'`)).length > 0);
    const again = await submit('pay on the left', 'item 8');
    await ended(again);
    expect(await stored(ids)).toEqual(then);
    expect(before.log()).not.toContain('"level":60');

    for (const [n, id] of [...ids, again].entries()) {
      const item = await db.workItem(id);
      expect([item?.state, item?.attempts]).toEqual(['completed', 1]);
      expect((await db.ledgerRead(id, null, null)).map(({ content }) => content)).toEqual([`item ${n} begun`, `item ${n} paid`]);
      expect((await paid()).filter((line) => line.startsWith(`item ${n} `))).toEqual([`item ${n} ${n < 4 || n === 8 ? 'left' : 'right'}`]);
    }
    // What the cut interrupted may have happened, and the model was told so; nothing else is in doubt.
    const statuses = await database.query<{ status: string; n: number }>(
      `select status, count(*)::int as n from ledger.tool_calls where tool_name = 'pay' group by 1 order by 1`,
    );
    expect(statuses).toEqual([
      { status: 'completed', n: 5 },
      { status: 'uncertain', n: 4 },
    ]);
  });

  test('work of a faculty that names hosts goes there, and waits while nobody is there', async () => {
    const [left] = hosts as [Host];
    await workers[0]?.end('SIGTERM');
    const id = await submit('pay on the left', 'item 9');
    await until(async () => (await db.workItem(id))?.state_reason === 'waits for a worker on host "left"');
    expect(await database.query(`select severity, says from ledger.work_ledger_doctor() where code = 'hosts'`)).toEqual([
      { severity: 'error', says: 'waits for a worker on host "left"' },
    ]);
    await start(left);
    await ended(id);
    expect((await paid()).at(-1)).toBe('item 9 left');
  });
});
