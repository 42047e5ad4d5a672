// A login without any right takes every advisory lock that it can compute, and each that it sees somebody hold: the ledger goes on.

import { afterAll, beforeAll, expect, test } from 'vitest';

import { alone } from '../../runtime/install/alone.ts';
import { installLedger } from '../../runtime/install/installLedger.ts';
import { connect } from '../../runtime/ledger/connection.ts';
import { createDatabase } from '../database.ts';
import type { TestDatabase } from '../database.ts';
import { Session } from '../session.ts';

const stranger = `stranger${process.pid}`;
let database: TestDatabase;
let session: Session;
let lurking: Session;
const strangersUrl = (): string => database.url.replace('postgres@', `${stranger}@`);
beforeAll(async () => {
  database = await createDatabase();
  await database.query(`create role ${stranger} login`);
  [session, lurking] = [await Session.open(database.url), await Session.open(strangersUrl())];
  await session.run('set search_path to ledger, public');
});
afterAll(async () => {
  await session?.close();
  await lurking?.close();
  await database?.query(`drop owned by ${stranger}; drop role ${stranger}`);
  await database?.drop();
});

const quoted = (text: unknown): string => `'${String(text)}'`;

test('sweep, claim, spawn, save, fork, erase and the journal wait for nobody', async () => {
  await session.run(
    `select faculty_save('{"name": "part", "accepts": ["part"], "max_concurrent": 2, "engage": {"ledger_nudge_interval": 1}}')`,
  );
  const [root, finished] = [
    await session.run(`select id from work_submit('part', 'Root')`),
    await session.run(`select id from work_submit('part', 'Finished')`),
  ];
  // A conversation with a turn to fork from.
  await session.run(`create temporary table stage as select (focus_claim(${quoted(finished)}, 'w') ->> 'lease')::uuid as lease`);
  const lease = await session.run('select lease from stage');
  const turn = await session.run(`select iteration_begin(${quoted(finished)}, ${quoted(lease)}) ->> 'turn_id'`);
  await session.run(
    `select turn_record(${quoted(finished)}, ${quoted(lease)}, ${quoted(turn)}, '{"stop_reason": "end_turn", "usage": {"input_tokens": 1}, "content": [{"type": "text", "text": "Done."}]}')`,
  );
  await session.run(`select iteration_finish(${quoted(finished)}, ${quoted(lease)})`);

  // What words of the source, names and ids that leak make of keys; and whatever is held while the ledger works.
  const words = [
    'work_sweep',
    'work_retention',
    'hint',
    'work_ledger roles',
    'work_ledger install',
    'work_ledger move ledger',
    'slot',
    'spawn',
    'faculty',
    'ability',
    'conversation',
    'checkpoint',
    'branch',
    'erase',
    'sweep',
    'retention',
    'slots',
    'spawns',
    'trees',
    'branches',
    'faculties',
    'abilities',
    'conversations',
    'checkpoints',
    'roles',
  ];
  const named = ['', 'part', 'look', 'talk', root, finished, turn].map(String);
  await lurking.run(`select count(pg_advisory_lock(hashtextextended(k, 0))) from (select distinct concat_ws(' ', w, s, nullif(n, '')) as k
    from unnest(${quoted(`{${words.map((word) => `"${word}"`).join()}}`)}::text[]) w cross join unnest('{"",ledger}'::text[]) s cross join unnest(${quoted(`{${named.map((name) => `"${name}"`).join()}}`)}::text[]) n) k`);

  const goesOn = async (sql: string): Promise<unknown> => {
    await session.run('begin');
    const running = session.begin(`create temporary table answer on commit drop as select (${sql})::text as said`);
    expect(await running.waitsFor(lurking), sql).toBe(false);
    expect(await running.outcome, sql).toBe('done');
    const seen = await lurking.run(
      `select count(pg_try_advisory_lock(classid::int, objid::int)) from pg_locks where locktype = 'advisory' and pid = ${session.pid}`,
    );
    expect(Number(seen), `${sql}: what is held is an advisory lock`).toBe(0);
    const said = await session.run('select said from answer');
    await session.run('commit');
    return said;
  };
  expect(await goesOn(`focus_claim(${quoted(root)}, 'w') ->> 'kind'`)).toBe('claimed');
  const held = await session.run(
    `update fences set lease_hash = sha256(uuid_send('00000000-0000-0000-0000-000000000001')) where work_item_id = ${quoted(root)} returning '00000000-0000-0000-0000-000000000001'::uuid`,
  );
  await goesOn(`select id from spawn_child_work(${quoted(root)}, 'part', 'Part', p_lease => ${quoted(held)})`);
  await goesOn(`select name from faculty_save('{"name": "part", "accepts": ["part"], "max_concurrent": 3}')`);
  await goesOn(`select name from ability_register('look', 'Looks.', '{"type": "object"}')`);
  await goesOn(`select id from journal_session_open('talk', 'Hello')`);
  const fork = await goesOn(`select id from work_fork(${quoted(turn)})`);
  await goesOn(`select count(*) from work_cancel(${quoted(fork)})`);
  await goesOn(`select count(*) from work_erase(${quoted(finished)}, p_with_forks => true)`);
  expect(await goesOn(`work_retention_run() ->> 'is_busy'`)).toBe(null);
  // Does its work instead of leaving it to another one.
  await session.run(`update foci set lease_expires_at = now() - interval '1 minute' where work_item_id = ${quoted(root)}`);
  expect(await goesOn(`work_sweep() ->> 'expired'`)).toBe('1');
  await goesOn(`select count(*) from work_roles_create('strange${process.pid}_')`);
  await session.run('select work_roles_drop()');
});

test('no right to the rows that functions lock comes with reading them', async () => {
  await database.query(`grant usage on schema ledger to ${stranger}; grant select on all tables in schema ledger to ${stranger}`);
  for (const lock of [
    'select from ledger.locks for key share',
    'select from ledger.fences for key share',
    'begin; lock table ledger.locks in row exclusive mode',
  ]) {
    expect(await lurking.begin(lock).outcome, lock).toBe('42501');
  }
  await lurking.run('rollback');
  await database.query(`revoke select on all tables in schema ledger from ${stranger}; revoke usage on schema ledger from ${stranger}`);
});

test('a lock of a stranger holds up no command, that of another command does', async () => {
  await lurking.run(
    `select pg_advisory_lock(hashtextextended('work_ledger install', 0)), pg_advisory_lock(hashtextextended('work_ledger move second', 0))`,
  );
  expect((await installLedger(database.url, 'second')).changed).toBe(true);
  expect(
    await database.query(
      `select proname from pg_proc where pronamespace = 'second'::regnamespace and has_function_privilege('public', oid, 'execute')`,
    ),
  ).toEqual([]);
  const [mover, other] = await Promise.all([1, 2].map(() => connect({ connectionString: database.url, lock_timeout: 500 })));
  await alone(mover!, 'move', 'second', false); // goes on without it
  await lurking.run('select pg_advisory_unlock_all()');
  await alone(mover!, 'move', 'second', false);
  await expect(alone(other!, 'move', 'second', false)).rejects.toMatchObject({ code: '55P03' });
  await Promise.all([mover!.end(), other!.end()]);
});
