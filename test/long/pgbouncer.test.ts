// Everything through a real PgBouncer in transaction mode, with fewer connections than a worker opens: nothing that is set for a
// session, prepared or listened to there is there for the next statement.

import { execFile } from 'node:child_process';
import { mkdtemp, readFile, rm, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { fileURLToPath } from 'node:url';
import { promisify } from 'node:util';

import { pino } from 'pino';
import { sql } from 'slonik';
import { afterAll, beforeAll, describe, expect, test } from 'vitest';
import { z } from 'zod';

import { layOutProject, task } from '../../runtime/commands/demo/project.ts';
import { demoReplies } from '../../runtime/commands/demo/script.ts';
import { follow } from '../../runtime/commands/follow.ts';
import { installLedger } from '../../runtime/install/installLedger.ts';
import { connect, withConnection } from '../../runtime/ledger/connection.ts';
import { openDb } from '../../runtime/ledger/db.ts';
import type { Db } from '../../runtime/ledger/db.ts';
import { listen, listenAt } from '../../runtime/ledger/listener.ts';
import { createModelClient } from '../../runtime/model/callModel.ts';
import { scriptOf } from '../../runtime/model/script.ts';
import { startScriptedModel } from '../../runtime/model/scriptedModel.ts';
import { defineTool, ok } from '../../runtime/tools/tool.ts';
import { startWorker } from '../../runtime/worker/worker.ts';
import { createDatabase } from '../database.ts';
import type { TestDatabase } from '../database.ts';
import { ask } from '../moving.ts';
import { noPgbouncer, startPgbouncer } from '../pgbouncer.ts';
import type { Pgbouncer } from '../pgbouncer.ts';
import { call, calls, done, startTeam } from '../team.ts';
import { startWorkerProcess, until } from '../workerProcess.ts';

const main = fileURLToPath(new URL('../../runtime/start.ts', import.meta.url));

describe.skipIf(noPgbouncer !== null)('behind PgBouncer', () => {
  let database: TestDatabase;
  let pooler: Pgbouncer;
  let through: string;
  let db: Db;
  beforeAll(async () => {
    database = await createDatabase();
    // What is not pinned is wrong, for whoever comes this way.
    const name = new URL(database.url).pathname.slice(1);
    for (const set of [
      `default_transaction_isolation = 'serializable'`,
      `statement_timeout = '20s'`,
      `lock_timeout = '10ms'`,
      `idle_in_transaction_session_timeout = '100ms'`,
      `DateStyle = 'German'`,
      'jit = on',
    ]) {
      await ask(database.url, `alter database ${name} set ${set}`);
    }
    pooler = await startPgbouncer(database.url, { poolSize: 3 });
    through = pooler.through(database.url);
    db = await openDb(through, 'ledger');
  });
  afterAll(async () => {
    await db?.close();
    await pooler?.stop();
    if (database) await ask(database.url, `alter database ${new URL(database.url).pathname.slice(1)} reset all`);
    await database?.drop();
  });

  const cli = async (...args: string[]): Promise<{ code: number; stdout: string; stderr: string }> =>
    promisify(execFile)(process.execPath, [main, ...args], {
      env: {
        PATH: process.env['PATH'],
        HOME: process.env['HOME'],
        DATABASE_URL: through,
        WORK_LEDGER_SCHEMA: 'ledger',
        ANTHROPIC_API_KEY: 'k',
        DOCKER_HOST: 'unix:///nowhere.sock',
      },
    }).then(
      (ended) => ({ code: 0, ...ended }),
      (error: { code: number; stdout: string; stderr: string }) => error,
    );

  test('a pooler is noticed, and the server itself is', async () => {
    const isPooled = (url: string): Promise<boolean> => withConnection({ connectionString: url }, async (client) => client.isPooled);
    expect([await isPooled(through), await isPooled(database.url)]).toEqual([true, false]);
  });

  const shown = z.object({
    isolation: z.string(),
    statement: z.string(),
    lock: z.string(),
    idle: z.string(),
    strings: z.string(),
    style: z.string(),
    jit: z.string(),
  });
  const pinned = { isolation: 'read committed', statement: '1min', lock: '0', idle: '1min', strings: 'on', style: 'ISO, MDY', jit: 'off' };
  const whatIsSet = sql.type(
    shown,
  )`select current_setting('transaction_isolation') as isolation, current_setting('statement_timeout') as statement, current_setting('lock_timeout') as lock,
    current_setting('idle_in_transaction_session_timeout') as idle, current_setting('standard_conforming_strings') as strings, current_setting('DateStyle') as style, current_setting('jit') as jit`;

  test('each statement meets the settings that it needs, on whatever connection, and leaves none behind', async () => {
    const asked = await Promise.all(Array.from({ length: 30 }, () => db.ask(() => whatIsSet)));
    expect(asked).toEqual(Array.from({ length: 30 }, () => [pinned]));
    const plain = await connect({ connectionString: through });
    await plain.query('begin');
    expect((await plain.query(whatIsSet.sql)).rows).toEqual([{ ...pinned, statement: '0' }]);
    await plain.query('rollback');
    plain.isPooled = false; // as any other program
    expect((await plain.query(whatIsSet.sql)).rows).toEqual([
      expect.objectContaining({ isolation: 'serializable', statement: '20s', lock: '10ms' }),
    ]);
    await plain.end();
  });

  test('nothing is prepared under a name, whoever asks for it', async () => {
    const client = await connect({ connectionString: through });
    const asked = { name: 'asked', text: `select name from pg_prepared_statements where name = 'asked'` };
    expect((await client.query(asked)).rows).toEqual([]);
    await client.query('begin');
    expect((await client.query(asked)).rows).toEqual([]);
    await client.query('commit');
    await client.end();
  });

  test('an error ends its transaction alone, and is the one that was raised', async () => {
    await expect(db.ledgerAppend('00000000-0000-7000-8000-000000000000', 'note', 'x')).rejects.toMatchObject({ code: 'WL001' });
    await expect(db.ask(() => sql.type(z.unknown())`select 1 / 0`)).rejects.toMatchObject({ code: '22012' });
    expect(await db.ask(() => whatIsSet)).toEqual([pinned]);
  });

  test('a ledger is installed through it, twice at once', async () => {
    const empty = await createDatabase({ from: null });
    try {
      const made = await Promise.all([1, 2].map(() => installLedger(pooler.through(empty.url), 'fresh')));
      expect(made.filter(({ changed }) => changed)).toHaveLength(1);
      expect(await installLedger(pooler.through(empty.url), 'fresh')).toMatchObject({ changed: false });
      expect((await empty.query('select from graphile_worker.migrations')).length).toBeGreaterThan(0);
    } finally {
      await empty.drop();
    }
  });

  test('the main job: an agent in a worker process, its ledger, its requests byte for byte', async () => {
    const workspace = await mkdtemp(join(tmpdir(), 'wl-pgbouncer-work-'));
    await layOutProject(workspace);
    const faculty = join(workspace, 'engineer.toml');
    await writeFile(
      faculty,
      '[faculty]\nname = "engineer"\naccepts = ["mend"]\n[faculty.engage]\nworkspace = "host"\nworkspace_dir = "."\ntools = ["read_file", "write_file", "edit_file", "glob", "grep", "bash"]\n',
    );
    const model = await startScriptedModel(scriptOf(demoReplies));
    const worker = await startWorkerProcess({
      url: through,
      modelUrl: model.url,
      args: ['--faculty', faculty],
      env: { WORK_LEDGER_SCHEMA: 'ledger' },
    });
    const { id } = await db.workSubmit({ workType: 'mend', description: task });
    const heard: number[] = [];
    const item = await follow(db, through, id, { onEntry: ({ seq }) => heard.push(seq) });
    expect(item?.state, worker.log()).toBe('completed');
    expect(heard).toEqual([1, 2, 3, 4, 5, 6]);
    expect(await readFile(join(workspace, 'src/money.js'), 'utf8')).toContain('Math.round');
    expect(model.requests.map((request) => request.body)).toEqual(
      await Promise.all((await db.turnIds(id)).map((turn) => db.contextAt(turn))),
    );
    expect(await worker.end('SIGTERM')).toBe(0);
    expect(worker.log()).toMatch(/at most 8 connections to a pooler, through which nothing can be listened to: .*WORK_LEDGER_LISTEN_URL/);
    expect(worker.log()).not.toMatch(/graphile-worker stopped|prepared statement/);
    // Nobody listened: a notification would reach whoever has the connection then.
    expect((await pooler.log()).split('\n').filter((line) => line.includes(`packet 'A'`))).toEqual([]);
    await model.close();
    await rm(workspace, { recursive: true, force: true });
  });

  /** A worker whose leases are so long that nothing but a hint, or a look, can tell it in time that one was taken away. */
  async function interrupted(url: string): Promise<string> {
    let sleeping = 0;
    const log: string[] = [];
    const sleep = defineTool({
      name: 'sleep',
      description: 'Sleeps.',
      input: z.strictObject({}),
      effect: 'unsafe',
      risk: 'safe',
      execute: (_, { signal }) =>
        new Promise((resolve) => {
          sleeping++;
          signal.addEventListener('abort', () => {
            sleeping--;
            resolve(ok('woken'));
          });
        }),
    });
    const model = await startTeam({ Lead: ({ exchange, said }) => (exchange === 0 ? calls(call('sleep', {})) : done(said.join())) });
    const worker = await startWorker({
      url,
      schema: 'ledger',
      tools: [sleep],
      docker: null,
      leaseSeconds: 3600,
      log: pino({ level: 'info' }, { write: (line) => log.push(line) }),
      model: createModelClient({ apiKey: 'k', baseURL: model.url }),
    });
    await db.facultySave({ name: 'lead', accepts: ['lead'], engage: { tools: ['sleep'] }, awareness: { enabled: false } });
    const item = await db.workSubmit({ workType: 'lead', description: 'Lead and sleep' });
    await until(() => sleeping === 1);
    await db.workMessage(item.id, 'Wake up', true);
    await until(() => sleeping === 0);
    await until(async () => (await db.workItem(item.id))?.state === 'completed');
    await worker.stop();
    await model.close();
    return log.join('');
  }

  test('where nothing can be listened to, a worker looks', async () => {
    expect(await interrupted(through)).toContain('Set WORK_LEDGER_LISTEN_URL to the address of the server itself');
  });

  /** Who listens while `work` is done. */
  async function listening(work: Promise<unknown>): Promise<string[]> {
    let most: string[] = [];
    const over = new AbortController();
    const watching = until(async () => {
      const now = (
        await ask<{ name: string }>(
          database.url,
          `select application_name as name from pg_stat_activity where datname = current_database() and query ilike 'listen%' order by 1`,
        )
      ).map(({ name }) => name);
      if (now.length > most.length) most = now;
      return over.signal.aborted;
    });
    await work.finally(() => over.abort());
    await watching;
    return most;
  }

  test('a worker that is told where the server itself is listens there: for jobs, and for what concerns its work', async () => {
    const told = `${through}?application_name=told`; // another spelling: nobody else is told
    listenAt(told, database.url);
    const work = interrupted(told);
    expect(await listening(work)).toEqual(['work-ledger jobs', 'work-ledger listener']);
    expect(await work).toContain('two of them to the server itself, where notifications are listened to');
  });

  test('one in session mode is treated like it, and is where notifications are listened to for whoever names it', async () => {
    const inSessions = await startPgbouncer(database.url, { poolSize: 40, mode: 'session' });
    try {
      const url = inSessions.through(database.url);
      const own = await openDb(url, 'ledger');
      expect(await Promise.all(Array.from({ length: 10 }, () => own.ask(() => whatIsSet)))).toEqual(
        Array.from({ length: 10 }, () => [pinned]),
      );
      await own.close();
      const untold = interrupted(url);
      expect(await listening(untold)).toEqual([]);
      expect(await untold).toContain('Set WORK_LEDGER_LISTEN_URL to the address of the server itself');
      const told = `${url}?application_name=in-sessions`;
      listenAt(told, url);
      expect(await interrupted(told)).toContain('two of them to the server itself, where notifications are listened to');
      const heard = new Set<string>();
      const listener = listen(told, ['work_ledger'], { onNotification: (_, payload) => heard.add(payload) });
      await until(async () => {
        await ask(database.url, `select pg_notify('work_ledger', 'heard')`);
        return heard.has('heard');
      });
      await listener.close();
      expect(await inSessions.log()).not.toMatch(/prepared statement|unsupported startup parameter/);
    } finally {
      await inSessions.stop();
    }
  });

  test('of an address that names two of them, one may go: work goes on by the other', async () => {
    const [first, second] = (await Promise.all([1, 2].map(() => startPgbouncer(database.url, { poolSize: 3 })))) as [Pgbouncer, Pgbouncer];
    const [at, other] = [first, second].map((one) => new URL(one.through(database.url)).host);
    const both = `postgresql://postgres@${at},${other}${new URL(database.url).pathname}?target_session_attrs=read-write`;
    const model = await startScriptedModel(
      scriptOf(
        [1, 2, 3, 4, 5, 6].map((n) => ({
          content: [{ type: 'tool_use', name: 'ledger_append', input: { entry_type: 'note', content: `${n}` } }],
          delayMs: 200,
        })),
      ),
    );
    try {
      expect(await withConnection({ connectionString: both }, async (client) => client.isPooled)).toBe(true);
      await db.facultySave({ name: 'talker', accepts: ['talk'], awareness: { enabled: false } });
      const log: string[] = [];
      const worker = await startWorker({
        url: both,
        schema: 'ledger',
        tools: [],
        docker: null,
        leaseSeconds: 3,
        log: pino({ level: 'info' }, { write: (line) => log.push(line) }),
        model: createModelClient({ apiKey: 'k', baseURL: model.url }),
      });
      const item = await db.workSubmit({ workType: 'talk', description: 'x' });
      await until(async () => (await db.ledgerRead(item.id, null, null)).length >= 2);
      await first.stop();
      await until(async () => (await db.workItem(item.id))?.state === 'completed');
      expect((await db.ledgerRead(item.id, null, null)).map(({ seq, content }) => [seq, content])).toEqual(
        [1, 2, 3, 4, 5, 6].map((n) => [n, `${n}`]),
      );
      expect(log.join('')).toContain('to a pooler, through which nothing can be listened to');
      expect(await second.log()).toContain('login attempt');
      await worker.stop();
    } finally {
      await model.close();
      await second.stop();
    }
  });

  test('who listens behind it looks every two seconds instead, until it is closed', async () => {
    let looks = 0;
    const listener = listen(through, ['work_ledger'], { onNotification: () => {}, onConnected: () => looks++ });
    await until(() => looks > 1);
    await listener.close();
  });

  test('connections of the pooler that end under work do it no harm', async () => {
    await db.facultySave({ name: 'talker', accepts: ['talk'], awareness: { enabled: false } });
    const model = await startScriptedModel(
      scriptOf(
        [1, 2, 3, 4, 5, 6].map((n) => ({
          content: [{ type: 'tool_use', name: 'ledger_append', input: { entry_type: 'note', content: `${n}` } }],
          delayMs: 100,
        })),
      ),
    );
    const worker = await startWorker({
      url: through,
      schema: 'ledger',
      tools: [],
      docker: null,
      leaseSeconds: 3,
      log: pino({ level: 'silent' }),
      model: createModelClient({ apiKey: 'k', baseURL: model.url }),
    });
    const item = await db.workSubmit({ workType: 'talk', description: 'x' });
    let kills = 0;
    await until(async () => {
      if (kills++ < 40)
        await ask(
          database.url,
          `select pg_terminate_backend(pid) from pg_stat_activity where datname = current_database() and pid <> pg_backend_pid() and backend_type = 'client backend' order by random() limit 1`,
        );
      return (await ask(database.url, `select from ledger.work_items where id = '${item.id}' and state = 'completed'`)).length === 1;
    });
    expect((await db.ledgerRead(item.id, null, null)).map(({ seq, content }) => [seq, content])).toEqual(
      [1, 2, 3, 4, 5, 6].map((n) => [n, `${n}`]),
    );
    await worker.stop();
    await model.close();
  });

  test('the doctor names it, and what to do', async () => {
    type Check = { check: string; severity: string; detail: string; remedy?: string };
    const look = async (...args: string[]): Promise<Check | undefined> =>
      (JSON.parse((await cli('doctor', '--json', ...args)).stdout) as Check[]).find(({ check }) => check === 'pooler');
    expect(await look()).toMatchObject({
      severity: 'warning',
      detail: expect.stringContaining('nothing can be listened to'),
      remedy: expect.stringContaining('WORK_LEDGER_LISTEN_URL'),
    });
    expect(await look('--listen-url', database.url)).toMatchObject({
      severity: 'fine',
      detail: `a pooler stands between; notifications are listened to at ${database.url}`,
    });
    expect(await look('--listen-url', through)).toMatchObject({ severity: 'warning', detail: expect.stringContaining('is a pooler, too') });
    expect(await look('--listen-url', database.url.replace(/[^/]*$/, 'postgres'))).toMatchObject({
      severity: 'error',
      detail: expect.stringContaining('is not the database at'),
    });
    expect(await look('--listen-url', 'postgresql://127.0.0.1:1/x')).toMatchObject({
      severity: 'error',
      detail: expect.stringContaining('cannot be reached'),
    });
    expect(await look('--database-url', database.url)).toEqual({ check: 'pooler', severity: 'fine', detail: 'no pooler stands between' });
  });

  test('commands work through it, and psql finds the ledger', async (context) => {
    const { stdout } = await cli('submit', 'Say hello', '--type', 'nobody');
    expect(await cli('list')).toMatchObject({ code: 0, stdout: expect.stringContaining(stdout.trim()) });
    const asked = await cli('sql', 'select count(*) from work_items where false', '--json');
    if (asked.stderr.includes('psql is not on PATH')) context.skip('psql is not on PATH');
    expect(asked).toMatchObject({ code: 0, stdout: '0\n' });
  });
});
