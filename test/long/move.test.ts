// A ledger moves to another server while work goes on: nothing that was acknowledged is lost or doubled, and at no moment is it written
// at both. The command is killed between any two steps, and repeated or undone.

import { execFile } from 'node:child_process';
import { once } from 'node:events';
import { mkdtemp, readFile, rm, writeFile } from 'node:fs/promises';
import { existsSync } from 'node:fs';
import { createServer } from 'node:http';
import type { AddressInfo } from 'node:net';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { promisify } from 'node:util';

import { afterAll, beforeAll, describe, expect, test } from 'vitest';

import { installLedger } from '../../runtime/install/installLedger.ts';
import { openDb } from '../../runtime/ledger/db.ts';
import { LedgerError } from '../../runtime/ledger/errors.ts';
import { startScriptedModel } from '../../runtime/model/scriptedModel.ts';
import { noDebian, startDebian } from '../debian.ts';
import { ask, faultsOf, leftOvers, moved, pair, startMove, startSource, startTarget, writing } from '../moving.ts';
import type { Move, OwnServer, Server } from '../moving.ts';
import { noPgbouncer, startPgbouncer } from '../pgbouncer.ts';
import { startWorkerProcess, until } from '../workerProcess.ts';

const APPENDS = 3000;
let from: OwnServer;
let to: OwnServer;
let directory: string;
beforeAll(async () => {
  [from, to] = await Promise.all([startSource(), startTarget()]);
  directory = await mkdtemp(join(tmpdir(), 'wl-move-'));
});
afterAll(async () => {
  await Promise.all([from, to].map((server) => server?.stop()));
  await rm(directory, { recursive: true, force: true });
});

const submitted = async (url: string, what: string, type = 'other'): Promise<string> =>
  (await ask<{ id: string }>(url, 'select id from work_ledger.work_submit($1, $2)', type, what))[0]?.id ?? '';
const entries = (url: string, item: string): Promise<{ seq: number; content: string }[]> =>
  ask(url, 'select seq, content from work_ledger.work_ledger where work_item_id = $1 order by seq', item);

/** A client's command that waits until the file is there. */
const waitsFor = (file: string): string => `while [ ! -e '${file}' ]; do sleep 0.05; done`;

/** Clients that append `APPENDS` entries to an item, each again until it is acknowledged; where they do so says `address`. */
function startClients(item: string, address: () => Promise<string>) {
  const acknowledged = new Map<string, number>();
  const refused: string[] = [];
  let allowed = 0;
  let next = 0;
  const client = async (): Promise<void> => {
    let url = await address();
    let db = await openDb(url, 'work_ledger', { maximumPoolSize: 1 });
    while (next < APPENDS) {
      const content = `entry ${next++}`;
      await until(() => Number(content.slice(6)) < allowed);
      for (;;) {
        try {
          acknowledged.set(content, (await db.ledgerAppend(item, 'note', content, { key: content })).seq);
          break;
        } catch (error) {
          if (!(error instanceof LedgerError) || error.code !== 'WL011') throw error;
          refused.push(error.message);
        }
        const before = url;
        url = await until(async () => {
          const now = await address();
          return now === before ? '' : now;
        });
        await db.close();
        db = await openDb(url, 'work_ledger', { maximumPoolSize: 1 });
      }
    }
    await db.close();
  };
  const done = Promise.all([1, 2, 3, 4].map(client));
  return {
    acknowledged,
    refused,
    done,
    /** So many may be appended by now. */
    allow: (count: number): void => void (allowed = count),
    /** Resolves when so many are acknowledged. */
    reached: (count: number) => until(() => acknowledged.size >= count),
  };
}

async function allThere(url: string, item: string, acknowledged: ReadonlyMap<string, number>): Promise<void> {
  const there = await entries(url, item);
  expect(acknowledged.size).toBe(APPENDS);
  expect(there.map(({ seq }) => seq)).toEqual(Array.from({ length: APPENDS }, (_, n) => n + 1));
  expect(new Map(there.map(({ seq, content }) => [content, seq]))).toEqual(acknowledged);
}

test('3,000 appends, erasures and a worker at work: all that was acknowledged is there, and goes on there', async () => {
  const { source, target } = await pair(from, to);
  const [ready, switched] = [join(directory, 'ready'), join(directory, 'switched')];
  for (const statement of (await readFile(new URL('../everyTable.sql', import.meta.url), 'utf8')).split(/(?<=;)\n(?=select|insert|do)/))
    await ask(source, statement);
  await ask(source, `select person_add('Ann')`);
  const [item, finished, later] = [
    await submitted(source, 'Collect entries'),
    await submitted(source, 'Write a secret down'),
    await submitted(source, 'Nobody takes it', 'nothing'),
  ];
  await ask(source, `select from ledger_append($1, 'finding', 'The key is AKIAIOSFODNN7EXAMPLE')`, finished);
  await ask(source, 'select from work_complete($1, $2)', finished, 'Written');
  // The model's fifth answer comes when the ledger has moved.
  const model = await startScriptedModel((_request, { exchange }) => ({
    content:
      exchange < 8
        ? [{ type: 'tool_use', name: 'ledger_append', input: { entry_type: 'step', content: `step ${exchange}` } }]
        : [{ type: 'text', text: 'Done.' }],
    afterEvent: async () => {
      if (exchange >= 4) await until(() => existsSync(switched));
    },
  }));
  await ask(source, `select from faculty_save('{"name": "mover", "accepts": ["go on"], "engage": {"ledger_nudge_interval": 0}}')`);
  const driven = await submitted(source, 'Go on wherever it is', 'go on');
  const worker = await startWorkerProcess({
    url: source,
    modelUrl: model.url,
    leaseSeconds: 3,
    env: { WORK_LEDGER_SCHEMA: 'work_ledger' },
  });
  await until(async () => (await entries(source, driven)).length >= 4);

  const clients = startClients(item, async () => (existsSync(switched) ? target : source));
  const move = startMove(source, ['--to', target, '--pause', waitsFor(ready), '--switch', `touch '${switched}'`]);
  clients.allow(1500);
  await move.says('all tables are copied');
  // While the target follows, words of settled rows go.
  await ask(source, `select from work_erase($1, 'to be forgotten', false)`, finished);
  await clients.reached(1500);
  clients.allow(2900);
  await clients.reached(1600);
  await writeFile(ready, '');
  await move.says('writers wait');
  clients.allow(APPENDS);
  const ended = await move.ended;
  expect(ended, ended.stderr).toMatchObject({
    code: 0,
    stdout: expect.stringMatching(/^moved to .*: \d+ rows, the same at both; nobody could write for [\d.]+ s\n$/),
  });
  console.log(ended.stdout);
  await clients.done;

  expect(clients.refused.length).toBeGreaterThan(0);
  expect(new Set(clients.refused)).toEqual(
    new Set([expect.stringMatching(/^this ledger has moved to .*\/move_\w+: nothing more can be written here$/)]),
  );
  await allThere(target, item, clients.acknowledged);
  expect((await entries(source, item)).length).toBeLessThan(APPENDS);
  expect(await entries(source, item)).toEqual((await entries(target, item)).slice(0, (await entries(source, item)).length));
  expect(await ask(target, 'select content from work_ledger.work_ledger where work_item_id = $1', finished)).toEqual(
    await ask(source, 'select content from work_ledger.work_ledger where work_item_id = $1', finished),
  );
  expect(await ask(target, 'select erased_at is not null as erased from work_ledger.work_items where id = $1', finished)).toEqual([
    { erased: true },
  ]);

  // The worker was told, and ended; another one goes on with its work. What nobody takes is queued there as it was.
  expect(await worker.ended).toBe(1);
  expect(worker.log()).toContain('this ledger has moved to');
  const next = await startWorkerProcess({ url: target, modelUrl: model.url, leaseSeconds: 3, env: { WORK_LEDGER_SCHEMA: 'work_ledger' } });
  await until(
    async () =>
      (await ask<{ state: string }>(target, 'select state from work_ledger.work_items where id = $1', driven))[0]?.state === 'completed',
  );
  await next.end('SIGTERM');
  expect((await entries(target, driven)).map(({ content }) => content)).toEqual(Array.from({ length: 8 }, (_, n) => `step ${n}`));
  expect(await ask(target, 'select state from work_ledger.work_items where id = $1', later)).toEqual([{ state: 'queued' }]);

  // Numbers go on behind the source's.
  await ask(target, `select from work_ledger.ledger_append($1, 'finding', 'Another key: AKIAIOSFODNN7EXAMPLF')`, later);
  expect(
    await ask(
      target,
      'select max(id) > (select count(*) - 1 from work_ledger.redactions) as is_new, count(*) = count(distinct id) as is_unique from work_ledger.redactions',
    ),
  ).toEqual([{ is_new: true, is_unique: true }]);
  expect(await faultsOf(target)).toEqual([]);
  expect(await ask(source, 'select * from work_ledger.ledger_verify()')).toEqual([]);
  expect(await leftOvers(source, target)).toEqual(['trigger']);
  expect(await writing(source, later)).toBe('this ledger has moved to …: nothing more can be written here');
  await expect(ask(source, `set session_replication_role = replica; delete from workers`)).rejects.toThrow('this ledger has moved to');
  expect(await moved(source, '--to', target)).toMatchObject({ code: 0, stdout: expect.stringMatching(/^moved to \S+\n$/) });
  expect((await moved(source, '--to', target, '--undo')).stderr).toMatch(/this ledger was moved to .*, where work goes on/);
  await model.close();
});

const steps = ['move_prepare', 'move_subscribe', 'move_fence', 'move_compare', 'move_unsubscribe', 'move_decide', 'move_open', 'move_tidy'];

test('killed between any two steps, it is repeated to the end', async () => {
  const { source, target } = await pair(from, to);
  const item = await submitted(source, 'Survive');
  let written = 0;
  const copying = await standing(source, target, 'after_move_subscribe'); // while the target copies
  copying.kill();
  copying.letGo();
  await copying.ended;
  for (const point of steps.slice(2).flatMap((step) => [`before_${step}`, `after_${step}`])) {
    expect(await startMove(source, ['--to', target], `${point}=kill`).ended, point).toMatchObject({ code: null });
    const sides = [await writing(source, item), await writing(target, item)];
    const place = steps.indexOf(point.replace(/^(before|after)_/, '')) + (point.startsWith('after_') ? 0.5 : 0);
    expect(
      sides.map((side) => side === 'written'),
      `${point}: ${sides.join(', ')}`,
    ).toEqual([place < 2.5, place > 6]);
    if (sides.includes('written')) written++;
  }
  expect(await moved(source, '--to', target)).toMatchObject({ code: 0 });
  expect(await entries(target, item)).toHaveLength(written);
  expect(await leftOvers(source, target)).toEqual(['trigger']);
  expect(await faultsOf(target)).toEqual([]);
});

test('killed between any two steps, it is undone, until it is decided', async () => {
  const { source, target } = await pair(from, to);
  const item = await submitted(source, 'Stay');
  for (const point of [
    'before_move_prepare',
    'after_move_prepare',
    'after_move_subscribe',
    'after_move_fence',
    'after_move_compare',
    'after_move_unsubscribe',
  ]) {
    expect(await startMove(source, ['--to', target], `${point}=kill`).ended, point).toMatchObject({ code: null });
    // The undoing is killed as well, and repeated.
    if (point === 'after_move_fence') {
      for (const broken of ['before_undo_source', 'after_undo_source', 'before_undo_target', 'after_undo_target']) {
        expect(await startMove(source, ['--undo', '--to', target], `${broken}=kill`).ended, broken).toMatchObject({ code: null });
        expect(await writing(source, item), broken).toBe(
          broken === 'before_undo_source' ? 'this ledger has moved to …: nothing more can be written here' : 'written',
        );
      }
    }
    expect(await moved(source, '--undo', '--to', target), point).toMatchObject({ code: 0 });
    expect(await leftOvers(source, target), point).toEqual([]);
    expect(await writing(source, item), point).toBe('written');
    if (point !== 'before_move_prepare')
      expect(await writing(target, item), point).toMatch(/this ledger is being moved here from …: nothing can be written here/);
  }
  expect(await faultsOf(source)).toEqual([]);

  // A server that is gone for good need not be there.
  expect(await startMove(source, ['--to', target], 'after_move_fence=kill').ended).toMatchObject({ code: null });
  expect(await ask(source, `select says from work_ledger.work_ledger_doctor() where code = 'move'`)).toHaveLength(1);
  expect(await moved(source, '--undo')).toMatchObject({ code: 0, stdout: 'the move is undone: this ledger is written as before\n' });
  expect(await leftOvers(source, target)).toEqual(['subscription']);

  expect(await startMove(source, ['--to', target], 'after_move_decide=kill').ended).toMatchObject({ code: null });
  for (const undo of [['--undo'], ['--undo', '--to', target]])
    expect((await moved(source, ...undo)).stderr).toMatch(/this ledger was moved to .*, where work goes on/);
  expect(await moved(source, '--to', target)).toMatchObject({ code: 0 });
  expect(await entries(target, item)).toEqual(await entries(source, item));
  expect(await faultsOf(target)).toEqual([]);
});

/** A move that stands still at a failpoint until it is let go. */
async function standing(source: string, target: string, point: string): Promise<Move & { letGo: () => void }> {
  const arrived = Promise.withResolvers<void>();
  const gate = Promise.withResolvers<void>();
  const server = createServer((_, response) => {
    arrived.resolve();
    void gate.promise.then(() => response.end(() => server.close()));
  }).listen(0, '127.0.0.1');
  await once(server, 'listening');
  const { port } = server.address() as AddressInfo;
  const move = startMove(source, ['--to', target], `${point}=barrier:http://127.0.0.1:${port}/`);
  await arrived.promise;
  return { ...move, letGo: () => gate.resolve() };
}

test('Ctrl-C ends it where nothing is half done, and it says how the ledger stands', async () => {
  const { source, target } = await pair(from, to);
  const item = await submitted(source, 'Go on');
  const before =
    'stopped; nothing is lost, the ledger is written here as before, and the target has a part of the copy: the same command goes on, --undo takes it back\n';
  const copying = await standing(source, target, 'after_move_subscribe');
  await copying.interrupt();
  copying.letGo();
  expect(await copying.ended).toMatchObject({ code: 130, stdout: '', stderr: expect.stringMatching(new RegExp(`${before}$`)) });
  expect(await writing(source, item)).toBe('written');

  const comparing = await standing(source, target, 'after_move_compare');
  expect(await writing(source, item)).not.toBe('written');
  await comparing.interrupt();
  comparing.letGo();
  expect(await comparing.ended).toMatchObject({ code: 130, stdout: '', stderr: expect.stringMatching(new RegExp(`${before}$`)) });
  expect(await writing(source, item)).toBe('written');

  const decided = await standing(source, target, 'after_move_decide');
  await decided.interrupt();
  decided.letGo();
  expect(await decided.ended).toMatchObject({ code: 0, stdout: expect.stringContaining('moved to') });
  expect(await writing(target, item)).toBe('written');
  expect(await leftOvers(source, target)).toEqual(['trigger']);
});

test('a row that is not there as it was keeps the ledger where it is', async () => {
  const { source, target } = await pair(from, to);
  const item = await submitted(source, 'Compare');
  await writing(source, item);
  await writing(source, item);
  const [ready, resumed] = [join(directory, 'ready2'), join(directory, 'resumed')];
  const move = startMove(source, ['--to', target, '--pause', waitsFor(ready), '--resume', `touch '${resumed}'`]);
  await move.says('all tables are copied');
  await ask(
    target,
    `alter table work_ledger.work_ledger disable trigger user; update work_ledger.work_ledger set trust = 'other_agent' where seq = 2; alter table work_ledger.work_ledger enable trigger user`,
  );
  await writeFile(ready, '');
  const ended = await move.ended;
  expect(ended).toMatchObject({
    code: 1,
    stdout: '',
    stderr: expect.stringMatching(
      /the source is written again.*\nerror: the target does not have the rows of the source \(run "work-ledger move --undo", then start again\): work_ledger \(2 rows at the source, 2 at the target\)/s,
    ),
  });
  expect(existsSync(resumed)).toBe(true);
  expect(await writing(source, item)).toBe('written');
  expect(await writing(target, item)).not.toBe('written');
  // Where the target is opened first, it is told afterwards.
  const late = await moved(source, '--to', target, '--compare-later');
  expect(late).toMatchObject({
    code: 1,
    stderr: expect.stringMatching(
      /error: the target, which is written by now, lacks rows of the source, which still has them: work_ledger \(3 rows at the source, 3 at the target\)/,
    ),
  });
  expect(await writing(target, item)).toBe('written');
  expect(await writing(source, item)).not.toBe('written');
});

test('two at once: the second waits, and says so', async () => {
  const { source, target } = await pair(from, to);
  const ready = join(directory, 'ready3');
  const move = startMove(source, ['--to', target, '--pause', waitsFor(ready)]);
  await move.says('all tables are copied');
  expect((await moved(source, '--to', target)).stderr).toBe('error: another "work-ledger move" of this ledger is running\n');
  await writeFile(ready, '');
  expect(await move.ended).toMatchObject({ code: 0 });
});

test('roles of the source are made at the target, and its owner owns the tables there', async () => {
  const { source, target } = await pair(from, to);
  await ask(source, `select from work_roles_create('away_')`);
  const item = await submitted(source, 'Roles');
  expect(await moved(source, '--to', target)).toMatchObject({ code: 0 });
  expect(await ask(target, 'select kind, role from ledger_roles order by kind')).toEqual(
    await ask(source, 'select kind, role from ledger_roles order by kind'),
  );
  expect(
    await ask(
      target,
      `select distinct relowner::regrole::text as owner from pg_class where relnamespace = 'work_ledger'::regnamespace and relkind = 'r'`,
    ),
  ).toEqual([{ owner: 'away_owner' }]);
  expect(await writing(target, item)).toBe('written');
  expect(await faultsOf(target)).toEqual([]);
});

test('nobody has to be a superuser, and the password stays between the servers', async () => {
  for (const server of [from, to]) {
    await ask(server.url('postgres'), `create role mover login password 'open sesame'`);
    await server.askPassword('mover');
  }
  const { source, target } = await pair(from, to, 'mover');
  await ask(from.url('postgres'), 'alter role mover replication');
  await ask(to.url('postgres'), 'grant pg_create_subscription to mover');
  const [mine, theirs] = [source, target].map((url) => url.replace('postgres@', 'mover:open%20sesame@')) as [string, string];
  await ask(source, 'drop schema work_ledger, graphile_worker cascade');
  await installLedger(mine, 'work_ledger');
  const item = await submitted(mine, 'Owned by mover');
  // The first does not get there, and says it without the password.
  const lost = await moved(mine, '--to', theirs, '--fetch-from', mine.replace(/move_\w+$/, 'no_such'));
  expect(lost).toMatchObject({
    code: 1,
    stderr: expect.stringMatching(
      /the target's server does not get the rows from postgresql:\/\/mover@.*no_such.*--fetch-from says how it reaches the source/s,
    ),
  });
  const ended = await startMove(mine, ['--to', theirs], 'after_move_subscribe=kill').ended;
  expect(ended, ended.stderr).toMatchObject({ code: null });
  expect(await moved(mine, '--undo', '--to', theirs)).toMatchObject({ code: 0 });
  const again = await moved(mine, '--to', theirs);
  expect(again, again.stderr).toMatchObject({ code: 0 });
  expect(await writing(theirs, item)).toBe('written');
  expect(await leftOvers(source, target)).toEqual(['trigger']);
  expect(await faultsOf(theirs)).toEqual([]);
  for (const said of [lost.stdout, lost.stderr, ended.stderr, again.stdout, again.stderr, await from.log()])
    expect(said).not.toMatch(/open(%20| )sesame/);
});

/** As managed servers let members of a role of theirs use slots, who have no attribute: the server's functions ask for that instead. */
const slotsForMembers = `
  create function public.is_member() returns boolean language plpgsql as $$ begin
    if not pg_has_role(session_user, 'rds_replication', 'usage') then raise insufficient_privilege using message = 'no member'; end if;
    return true; end $$;
  alter function pg_catalog.pg_create_physical_replication_slot rename to server_makes_slot;
  alter function pg_catalog.pg_drop_replication_slot rename to server_drops_slot;
  create function pg_catalog.pg_create_physical_replication_slot(name, boolean, boolean, out slot_name name, out lsn pg_lsn) language sql security definer
    as $$ select made.* from server_makes_slot($1, $2, $3) made where public.is_member() $$;
  create function pg_catalog.pg_drop_replication_slot(name) returns void language sql security definer as $$ select server_drops_slot($1) where public.is_member() $$`;

test('a role that may replicate as a managed server lets it, without the attribute, moves a ledger; what it lacks is said as it is granted there', async () => {
  for (const server of [from, to]) {
    await ask(server.url('postgres'), `create role managed login password 'open sesame'`);
    await server.askPassword('managed');
  }
  await ask(
    from.url('postgres'),
    `create role rds_replication; create role copier login replication password 'open sesame'; grant managed to copier; grant pg_signal_backend to managed`,
  );
  await from.askPassword('copier');
  const { source, target } = await pair(from, to, 'managed');
  const [mine, theirs, copied] = [
    source.replace('postgres@', 'managed:open%20sesame@'),
    target.replace('postgres@', 'managed:open%20sesame@'),
    source.replace('postgres@', 'copier:open%20sesame@'),
  ] as [string, string, string];
  await ask(source, `drop schema work_ledger, graphile_worker cascade; set allow_system_table_mods = on; ${slotsForMembers}`);
  await installLedger(mine, 'work_ledger');
  const item = await submitted(mine, 'On a managed server');
  await ask(source, 'revoke execute on function pg_control_system() from public');
  expect((await moved(mine, '--to', theirs)).stderr).toMatch(
    /^error: the server at .* does not tell role managed which server it is: grant execute on function pg_control_system\(\) to it\n$/,
  );
  await ask(source, 'grant execute on function pg_control_system() to managed');
  expect((await moved(mine, '--to', theirs)).stderr).toBe(
    'error: the move cannot begin: the source lets role managed not replicate: grant rds_replication to managed; the target lets role managed make no subscription: grant pg_create_subscription to managed\n',
  );
  await ask(source, 'grant rds_replication to managed');
  await ask(target, 'grant pg_create_subscription to managed');
  expect((await moved(mine, '--to', theirs, '--fetch-from', source.replace('postgres@', 'copier@'))).stderr).toBe(
    "error: the move cannot begin: the target lets no role but a superuser subscribe without a password: name one in the source's address (--fetch-from)\n",
  );
  expect(await leftOvers(source, target)).toEqual([]);
  const ended = await moved(mine, '--to', theirs, '--fetch-from', copied);
  expect(ended, ended.stderr).toMatchObject({ code: 0 });
  expect(await writing(theirs, item)).toBe('written');
  expect(await leftOvers(source, target)).toEqual(['trigger']);
});

test('ledgers that are extensions, at both ends', async () => {
  const { source, target } = await pair(from, to);
  await ask(source, 'drop schema work_ledger cascade; create extension work_ledger');
  await ask(target, 'create extension work_ledger');
  const item = await submitted(source, 'In an extension');
  const lost = await moved(
    source,
    '--to',
    target,
    '--fetch-from',
    source.replace('postgres@', 'postgres:s3same@').replace(/move_\w+$/, 'no_such'),
  );
  expect(lost.stderr).toContain('--fetch-from says how it reaches the source');
  for (const said of [lost.stderr, await from.log(), await to.log()]) expect(said).not.toContain('s3same');
  const ended = await moved(source, '--to', target);
  expect(ended, ended.stderr).toMatchObject({ code: 0 });
  expect(await writing(target, item)).toBe('written');
  expect(await ask(target, `select count(*)::integer as abilities from work_ledger.abilities where is_builtin`)).toEqual(
    await ask(source, `select count(*)::integer as abilities from work_ledger.abilities where is_builtin`),
  );
  expect(await faultsOf(target)).toEqual([]);
  // And not to where somebody works already.
  const other = await pair(from, to);
  await installLedger(other.target, 'work_ledger');
  const there = await submitted(other.target, 'Mine');
  expect((await moved(other.source, '--to', other.target)).stderr).toMatch(
    /^error: the ledger at the target has rows in \w+: move to where there is none/,
  );
  expect(await writing(other.target, there)).toBe('written');
});

describe.skipIf(noDebian(15) !== null)('PostgreSQL 15', () => {
  test('a ledger comes from 15, and one goes there', async () => {
    const old = await startDebian(15, ['wal_level=logical']);
    const debian: Server = { url: (database) => `${old.serverUrl}${database}`, stop: () => old.stop() };
    try {
      for (const [first, second] of [
        [debian, to],
        [from, debian],
      ] as const) {
        const { source, target } = await pair(first, second);
        const item = await submitted(source, 'Between versions');
        await writing(source, item);
        const ended = await moved(source, '--to', target);
        expect(ended, ended.stderr).toMatchObject({ code: 0 });
        expect(await entries(target, item)).toEqual(await entries(source, item));
        expect(await writing(target, item)).toBe('written');
        expect(await faultsOf(target)).toEqual([]);
      }
      // There only a superuser subscribes, and on a managed server whom that calls one.
      await ask(debian.url('postgres'), 'create role subscriber login');
      const { source, target } = await pair(from, debian);
      const says = async (): Promise<string> => (await moved(source, '--to', target.replace('postgres@', 'subscriber@'))).stderr;
      expect(await says()).toMatch(/the target lets role subscriber make no subscription: before PostgreSQL 16 that takes a superuser/);
      await ask(target, 'create role rds_superuser');
      expect(await says()).toMatch(/the target lets role subscriber make no subscription: grant rds_superuser to subscriber/);
    } finally {
      await debian.stop();
    }
  });
});
if (noDebian(15) !== null) console.log(`move.test.ts leaves PostgreSQL 15 out: ${noDebian(15)}`);

describe.skipIf(noPgbouncer !== null)('PgBouncer', () => {
  test('keeps the address: clients wait for a moment, and are told of nothing', async () => {
    const { source, target } = await pair(from, to);
    const pooler = await startPgbouncer(source, { poolSize: 20 });
    await promisify(execFile)('sh', ['-c', pooler.lead('app', source)]);
    const app = pooler.through(source).replace(/[^/]*$/, 'app');
    try {
      const item = await submitted(source, 'Behind a pooler');
      const ready = join(directory, 'ready4');
      const clients = startClients(item, async () => app);
      const move = startMove(source, [
        '--to',
        target,
        '--pause',
        `${waitsFor(ready)}; ${pooler.tell('PAUSE app')}`,
        '--switch',
        pooler.lead('app', target),
        '--resume',
        pooler.tell('RESUME app'),
        '--compare-later',
      ]);
      clients.allow(1500);
      await move.says('all tables are copied');
      await clients.reached(1500);
      clients.allow(2900);
      await clients.reached(1600);
      await writeFile(ready, '');
      await move.says('writers wait');
      clients.allow(APPENDS);
      const ended = await move.ended;
      expect(ended, ended.stderr).toMatchObject({ code: 0 });
      console.log(`behind PgBouncer: ${ended.stdout}`);
      await clients.done;
      expect(clients.refused).toEqual([]);
      await allThere(target, item, clients.acknowledged);
      expect((await entries(source, item)).length).toBeLessThan(APPENDS);
      expect(await faultsOf(target)).toEqual([]);
    } finally {
      await pooler.stop();
    }
  });
});
