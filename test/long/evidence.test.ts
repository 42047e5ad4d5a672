// What is recorded by many at once, and by workers that die, is as it was written; what its owner changes by hand is found, by the
// database, by the command that trusts only its own package, and by heads that were kept elsewhere.

import { mkdtemp, rm, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';

import { afterAll, beforeAll, expect, test } from 'vitest';

import { openDb } from '../../runtime/ledger/db.ts';
import type { Db } from '../../runtime/ledger/db.ts';
import { playedDatabase } from '../playedDatabase.ts';
import type { Played } from '../playedDatabase.ts';
import { call, calls, done, startTeam } from '../team.ts';
import { startWorkerProcess, until } from '../workerProcess.ts';

let database: Played;
let db: Db;
let directory: string;
beforeAll(async () => {
  directory = await mkdtemp(join(tmpdir(), 'evidence-'));
  database = await playedDatabase();
  db = await openDb(database.url, 'ledger');
});
afterAll(async () => {
  await db?.close();
  await database?.drop();
  await rm(directory, { recursive: true, force: true });
});

type Ended = { code: number; stdout: string; stderr: string };
const cli = (...args: string[]): Promise<Ended> =>
  database.cli(...args).then((said) => ({ code: 0, ...said }), (error: unknown) => error as Ended);
const problems = async (): Promise<string[]> => (await db.ledgerVerify(null, null)).map(({ place, problem }) => `${place} ${problem}`);
/** As the owner would, past the triggers, which are as they were afterwards. */
const forge = (table: string, change: string): Promise<unknown> => database.query(`
  begin; alter table ${table} disable trigger user; ${change}; alter table ${table} enable trigger user;
  ${['refuse_change', 'refuse_entry'].map((name) => `do $$ begin if exists (select from pg_trigger where tgname = '${name}' and tgrelid = '${table}'::regclass) then alter table ${table} enable always trigger ${name}; end if; end $$`).join('; ')};
  commit`);

test('many who append at once, some in vain, leave one chain', async () => {
  const { id } = await db.workSubmit({ workType: 'notes', description: 'Collect' });
  await Promise.all(Array.from({ length: 8 }, async (_, writer) => {
    for (let n = 0; n < 15; n++) {
      if (n % 5 === 4) await database.query(`begin; select ledger_append('${id}', 'note', 'never said'); rollback`);
      else await db.ledgerAppend(id, 'note', `${writer} says ${n}`);
    }
  }));
  expect((await db.ledgerHead(id)).map(({ ledger_count }) => ledger_count)).toEqual([96]);
  expect(await problems()).toEqual([]);
});

test('a worker that is killed, and the one that goes on, leave chains that hold', async () => {
  const model = await startTeam({
    Run: ({ exchange }) => (exchange < 6 ? { ...calls(call('ledger_append', { entry_type: 'note', content: `note ${exchange}` })), delayMs: 100 } : done('Ran')),
  });
  await db.facultySave({ name: 'runner', accepts: ['run'], awareness: { enabled: false } });
  const { id } = await db.workSubmit({ workType: 'run', description: 'Run' });
  const start = () => startWorkerProcess({ url: database.url, modelUrl: model.url, leaseSeconds: 2, args: ['--schema', 'ledger'] });
  const first = await start();
  await until(async () => ((await db.ledgerHead(id))[0]?.ledger_count ?? 0) >= 2);
  await first.end('SIGKILL');
  const second = await start();
  await until(async () => (await database.query(`select from work_items where id = '${id}' and state = 'completed'`)).length === 1);
  await second.end('SIGTERM');
  await model.close();
  expect(await problems()).toEqual([]);
  expect((await db.ledgerHead(id))[0]?.seal_count).toBeGreaterThan(6);
});

test('heads that were kept elsewhere show what was cut off with all its counters', async () => {
  const { id } = await db.workSubmit({ workType: 'notes', description: 'Collect' });
  for (const content of ['First', 'Second', 'Third']) await db.ledgerAppend(id, 'note', content);
  const kept = join(directory, 'heads.jsonl');
  await writeFile(kept, (await cli('heads')).stdout);
  expect(await cli('verify', '--heads', kept)).toMatchObject({ code: 0, stdout: expect.stringMatching(/^everything is as it was written, and \d+ heads fit\n$/) });
  await forge('work_ledger', `delete from work_ledger where work_item_id = '${id}' and seq = 3; update fences set ledger_count = 2 where work_item_id = '${id}'`);
  expect(await cli('verify', id)).toMatchObject({ code: 0, stdout: 'everything is as it was written\n' });
  expect(await cli('verify', '--heads', kept)).toMatchObject({ code: 1, stdout: `${id}  entry 3  is gone: it was the head\n` });
  await writeFile(kept, 'no head\n');
  expect(await cli('verify', '--heads', kept)).toMatchObject({ code: 2, stderr: expect.stringContaining('line 1 is not a line of "work-ledger heads"') });
  await db.ledgerAppend(id, 'note', 'Another third');
});

test('functions that were replaced, those that verify among them, are found by the package', async () => {
  const { id } = await db.workSubmit({ workType: 'notes', description: 'Collect' });
  await db.ledgerAppend(id, 'finding', 'It leaks');
  await forge('work_ledger', `update work_ledger set content = 'All is well' where work_item_id = '${id}'`);
  expect(await problems()).toEqual(['entry 1 is not as it was written']);
  const [{ definition } = { definition: '' }] = await database.query<{ definition: string }>(`select pg_get_functiondef('ledger.ledger_verify(uuid,jsonb)'::regprocedure) as definition`);
  await database.query(definition.replace(/\$function\$[\s\S]*\$function\$/, '$function$ begin end $function$'));
  expect(await problems()).toEqual([]);
  expect(await cli('verify')).toMatchObject({ code: 1, stdout: 'function ledger_verify(uuid,jsonb)  is not the one of this package\n' });
  await database.query(definition);
  await database.query('alter table messages disable trigger refuse_change');
  expect(await cli('verify', '--json')).toMatchObject({ code: 1, stdout: `${JSON.stringify([
    { work_item_id: null, place: 'trigger refuse_change on messages', problem: 'is not the one of this package' },
    { work_item_id: id, place: 'entry 1', problem: 'is not as it was written' },
  ])}\n` });
  await database.query('alter table messages enable always trigger refuse_change');
  await forge('work_ledger', `update work_ledger set content = 'It leaks' where work_item_id = '${id}'`);
  expect(await problems()).toEqual([]);
});

test('readers verify, too, and are told what they cannot compare', async () => {
  const role = `evidence_${process.pid}`;
  await database.query(`create role ${role} login`);
  await database.query(`select work_roles_create('${role}_')`);
  await database.query(`grant ${role}_reader to ${role}`);
  try {
    const url = database.url.replace('postgres@', `${role}@`);
    expect(await cli('verify', '--database-url', url)).toMatchObject({
      code: 0, stdout: 'everything is as it was written\n', stderr: expect.stringContaining('the functions were not compared with this package'),
    });
    expect((await cli('heads', '--database-url', url)).stdout).toBe((await cli('heads')).stdout);
    expect(await cli('verify')).toMatchObject({ code: 0 });
  } finally {
    await database.query('select work_roles_drop()');
    await database.query(`drop role ${role}`);
  }
});
