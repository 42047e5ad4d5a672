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
import { Session } from '../session.ts';
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
  database.cli(...args).then(
    (said) => ({ code: 0, ...said }),
    (error: unknown) => error as Ended,
  );
const problems = async (): Promise<string[]> => (await db.ledgerVerify(null, null)).map(({ place, problem }) => `${place} ${problem}`);
/** As the owner would, past the triggers, which are as they were afterwards. */
const forge = (table: string, change: string): Promise<unknown> =>
  database.query(`
  begin; alter table ${table} disable trigger user; ${change}; alter table ${table} enable trigger user;
  ${['refuse_change', 'complete_entry'].map((name) => `do $$ begin if exists (select from pg_trigger where tgname = '${name}' and tgrelid = '${table}'::regclass) then alter table ${table} enable always trigger ${name}; end if; end $$`).join('; ')};
  commit`);

test('many who append at once, some in vain, leave one chain', async () => {
  const { id } = await db.workSubmit({ workType: 'notes', description: 'Collect' });
  await Promise.all(
    Array.from({ length: 8 }, async (_, writer) => {
      for (let n = 0; n < 15; n++) {
        if (n % 5 === 4) await database.query(`begin; select ledger_append('${id}', 'note', 'never said'); rollback`);
        else await db.ledgerAppend(id, 'note', `${writer} says ${n}`);
      }
    }),
  );
  expect((await db.ledgerHead(id)).map(({ ledger_count }) => ledger_count)).toEqual([96]);
  expect(await problems()).toEqual([]);
});

test('a worker that is killed, and the one that goes on, leave chains that hold', async () => {
  const model = await startTeam({
    Run: ({ exchange }) =>
      exchange < 6 ? { ...calls(call('ledger_append', { entry_type: 'note', content: `note ${exchange}` })), delayMs: 100 } : done('Ran'),
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
  await writeFile(kept, (await cli('verify', '--heads')).stdout);
  expect(await cli('verify', '--against', kept)).toMatchObject({
    code: 0,
    stdout: expect.stringMatching(/^everything is as it was written, and \d+ heads fit\n$/),
  });
  await forge(
    'work_ledger',
    `delete from work_ledger where work_item_id = '${id}' and seq = 3; update fences set ledger_count = 2 where work_item_id = '${id}'`,
  );
  expect(await cli('verify', id)).toMatchObject({ code: 0, stdout: 'everything is as it was written\n' });
  expect(await cli('verify', '--against', kept)).toMatchObject({ code: 1, stdout: `${id}  entry 3  is gone: it was the head\n` });
  await writeFile(kept, 'no head\n');
  expect(await cli('verify', '--against', kept)).toMatchObject({
    code: 2,
    stderr: expect.stringContaining('line 1 is not a line of "work-ledger verify --heads"'),
  });
  await db.ledgerAppend(id, 'note', 'Another third');
});

/** Columns that no seal covers, since they change after the end or say nothing of what was done; docs/backup.md names them. */
const outside: Record<string, string[]> = {
  work_items: [
    'dedup_key',
    'run_at',
    'is_pausing',
    'slot_faculty',
    'heartbeat_ends_at',
    'workspace_dir',
    'workspace_dir_by',
    'workspace_daemon',
    'workspace_host',
    'project',
    'is_stranded',
    'focus_id',
    'fork_turn_id',
  ],
  foci: [
    'max_tokens',
    'lease_owner',
    'lease_seconds',
    'leased_at',
    'lease_expires_at',
    'crash_count',
    'model_error_count',
    'offered: could not be changed',
    'stall_count',
    'round_hash',
    'round_count',
    'nudge_iteration',
    'unheeded_nudge_count',
    'compaction_trigger',
    'compaction_instructions',
    'overflow_count',
  ],
  approvals: [],
  artifacts: ['created_at'],
  artifact_uses: [],
};

test('each column of items, attempts, decisions and artifacts that was changed by hand is found, but for those that are in no chain', async () => {
  const id = await database.play(`
    select tool('drop_table', 'unsafe', 'dangerous');
    select agent('{"tools": ["drop_table", "look"], "require_approval": "dangerous"}');
    select submit('Tidy');
    select play('[[["drop_table", {"name": "a"}]]]');
    select tool_call_reject(call('t1_1'), 'Not that one');
    select drive();
    select from iteration_finish(item(), lease());
    select drive();
    select answer('[["look"]]');
    select from tool_call_settle(item(), lease(), (select id from tool_calls where tool_name = 'look' and work_item_id = item()), 'Too long', p_whole => repeat('line', 30000));
    select from iteration_finish(item(), lease());
    select play('[["done"]]');
    select item()`);
  expect(await database.query(`select state from work_items where id = '${id}'`)).toEqual([{ state: 'completed' }]);
  expect(await problems()).toEqual([]);
  // One that the column does not have and its constraints allow.
  const values: Record<string, string[]> = {
    text: [`'completed'`, `'failed'`, `'dead'`, `'approved'`, `'manual'`, `'/forged'`, `repeat('f', 64)`],
    jsonb: [`'{"forged": true}'`],
    uuid: ['gen_random_uuid()'],
    'uuid[]': ['array[gen_random_uuid()]'],
    'timestamp with time zone': [`coalesce(COLUMN, now()) + interval '1 second'`, 'null'],
    integer: ['coalesce(COLUMN, 0) + 1', 'coalesce(COLUMN, 0) - 1'],
    boolean: ['not COLUMN'],
    name: [`'forged'`],
    bytea: [`'forged'`],
    work_source: [`'cron'`, `'event'`],
  };
  const session = await Session.open(database.url);
  try {
    for (const [table, ignored] of Object.entries(outside)) {
      const columns = await database.query<{ name: string; type: string }>(
        `select attname as name, format_type(atttypid, null) as type from pg_attribute where attrelid = 'ledger.${table}'::regclass and attnum > 0 and not attisdropped`,
      );
      const unseen: string[] = [];
      for (const { name, type } of columns) {
        let isChanged = false;
        for (const value of values[type.replace('ledger.', '')] ?? []) {
          const where =
            table === 'work_items'
              ? `id = '${id}'`
              : table === 'artifacts'
                ? `content_hash in (select content_hash from artifact_uses where work_item_id = '${id}')`
                : `work_item_id = '${id}'`;
          const other = value.replaceAll('COLUMN', name);
          const found = await session
            .run(`begin; alter table ${table} disable trigger all; alter table work_items drop constraint children_know_their_root; alter table work_items drop constraint only_driven_items_are_to_pause; alter table foci drop constraint a_lease_is_whole; alter table work_items drop constraint who_goes_on_is_said;
            with changed as (update ${table} set ${name} = ${other} where ${where} and ${name} is distinct from ${other} returning 1)
            select count(*)::int from changed`)
            .then(
              async (changed) =>
                changed === 0
                  ? null
                  : Number(await session.run(`select count(*) filter (where place !~ '^trigger')::int from ledger_verify()`)),
              () => null,
            );
          await session.run('rollback');
          if (found === null) continue;
          isChanged = true;
          if (found === 0) unseen.push(name);
          break;
        }
        if (!isChanged) unseen.push(`${name}: could not be changed`);
      }
      expect({ table, unseen: unseen.toSorted() }).toEqual({ table, unseen: ignored.toSorted() });
    }
  } finally {
    await session.close();
  }
});

test('functions that were replaced, those that verify among them, are found by the package', async () => {
  const { id } = await db.workSubmit({ workType: 'notes', description: 'Collect' });
  await db.ledgerAppend(id, 'finding', 'It leaks');
  await forge('work_ledger', `update work_ledger set content = 'All is well' where work_item_id = '${id}'`);
  expect(await problems()).toEqual(['entry 1 is not as it was written']);
  const [{ definition } = { definition: '' }] = await database.query<{ definition: string }>(
    `select pg_get_functiondef('ledger.ledger_verify(uuid,jsonb)'::regprocedure) as definition`,
  );
  await database.query(definition.replace(/\$function\$[\s\S]*\$function\$/, '$function$ begin end $function$'));
  expect(await problems()).toEqual([]);
  expect(await cli('verify')).toMatchObject({ code: 1, stdout: 'function ledger_verify(uuid,jsonb)  is not the one of this package\n' });
  await database.query(definition);
  await database.query('alter table messages disable trigger refuse_change');
  expect(await cli('verify', '--json')).toMatchObject({
    code: 1,
    stdout: `${JSON.stringify([
      { work_item_id: null, place: 'trigger refuse_change on messages', problem: 'is not the one of this package' },
      { work_item_id: id, place: 'entry 1', problem: 'is not as it was written' },
    ])}\n`,
  });
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
      code: 0,
      stdout: 'everything is as it was written\n',
      stderr: expect.stringContaining('the functions were not compared with this package'),
    });
    expect((await cli('verify', '--heads', '--database-url', url)).stdout).toBe((await cli('verify', '--heads')).stdout);
    expect(await cli('verify')).toMatchObject({ code: 0 });
  } finally {
    await database.query('select work_roles_drop()');
    await database.query(`drop role ${role}`);
  }
});
