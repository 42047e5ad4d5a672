// Output that nobody reads to its end, through real pipes: a command ends quietly. Where it cannot be written, it says why.

import { execFile, spawnSync } from 'node:child_process';
import { mkdtemp, rm } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { setTimeout as sleep } from 'node:timers/promises';
import { fileURLToPath } from 'node:url';

import { afterAll, beforeAll, expect, test } from 'vitest';

import { openDb } from '../../runtime/ledger/db.ts';
import type { Db } from '../../runtime/ledger/db.ts';
import { createDatabase } from '../database.ts';
import type { TestDatabase } from '../database.ts';
import { servesTests } from '../workerProcess.ts';

const start = fileURLToPath(new URL('../../runtime/start.ts', import.meta.url));
const hasPsql = spawnSync('psql', ['--version']).status === 0;
let database: TestDatabase;
let directory: string;
let db: Db;
let item: string;
beforeAll(async () => {
  database = await createDatabase();
  directory = await mkdtemp(join(tmpdir(), 'pipe-test-'));
  db = await openDb(database.url, 'ledger');
  item = (await db.journal.sessionOpen('somebody', null, null)) ?? '';
  await database.query(`select ledger_append('${item}', 'finding', 'First')`);
});
afterAll(async () => {
  await db?.close();
  await database?.drop();
  await rm(directory, { recursive: true, force: true });
});

const env = (): NodeJS.ProcessEnv => ({
  PATH: process.env['PATH'],
  HOME: directory,
  DATABASE_URL: database.url,
  WORK_LEDGER_SCHEMA: 'ledger',
  START: start,
  NODE: process.execPath,
  ...servesTests,
});

/** A line of bash in which `work-ledger` is the first of a pipe: its exit code, and what it says on an open stderr. */
const piped = (line: string): Promise<{ code: string; stderr: string; stdout: string }> =>
  new Promise((resolve) => {
    const whole = `work-ledger() { "$NODE" "$START" "$@"; }; ${line}; echo "code \${PIPESTATUS[0]}"`;
    execFile('bash', ['-c', whole], { env: env(), cwd: directory }, (_, stdout, stderr) =>
      resolve({ code: /code (\d+)/.exec(stdout)?.[1] ?? '', stderr, stdout }),
    );
  });

/** A command whose reader has gone before it begins. */
const unread = (command: string): string => `rm -f gone; { until [ -e gone ]; do sleep 0.02; done; ${command}; } | { exec <&-; : > gone; }`;

test.each(['--help', 'list --all', 'digest', 'logs ID', 'trace ID', 'show ID --json', '--completion bash'])(
  '%s, whose reader is gone',
  async (words) => {
    expect(await piped(unread(`work-ledger ${words.replace('ID', item)}`))).toMatchObject({ code: '141', stderr: '' });
  },
);

test('what is wrong, which nobody hears', async () => {
  expect(await piped(unread('work-ledger show nothing 2>&1 >/dev/null'))).toMatchObject({ code: '141', stderr: '' });
});

test.each(['--help', 'list --all', 'show ID --json'])('%s: output that cannot be written', async (words) => {
  expect(await piped(`work-ledger ${words.replace('ID', item)} >/dev/full`)).toMatchObject({
    code: '1',
    stderr: expect.stringMatching(/^error: the output cannot be written: ENOSPC.*\n$/),
  });
});

test('--help | head -1 is its first line', async () => {
  expect(await piped('work-ledger --help | head -1')).toMatchObject({
    stderr: '',
    stdout: expect.stringMatching(/^Usage: .*\ncode (0|141)\n$/),
  });
});

test.skipIf(!hasPsql)('sql, whose output is that of psql', async () => {
  const { stdout, stderr } = await piped(`work-ledger sql 'select generate_series(1, 300000)' | head -1`);
  expect({ stdout, stderr }).toEqual({ stderr: '', stdout: expect.stringMatching(/^ *generate_series\s+code \d+\n$/) });
});

test('logs --follow | head -1 ends with the next line', async () => {
  const ended = piped(`work-ledger logs ${item} --follow | { head -1; echo read >&2; }`);
  for (let n = 0, isOver = false; !isOver; n += 1) {
    await database.query(`select ledger_append('${item}', 'finding', 'Another ${n}')`);
    isOver = await Promise.race([ended.then(() => true), sleep(200, false)]);
  }
  expect(await ended).toMatchObject({ code: '141', stderr: 'read\n', stdout: expect.stringContaining('First') });
});

test('a hook records what it was told', async () => {
  const told = JSON.stringify({ session_id: 'piped', cwd: directory, prompt: 'Count the sheep' });
  expect(await piped(unread(`work-ledger hook user-prompt <<<'${told}' 2>&1`))).toMatchObject({ code: '0' });
  expect((await db.workItem((await db.journal.sessionActive('piped'))?.id ?? ''))?.description).toBe('Count the sheep');
});

test('what a command has made for itself goes before it ends', async () => {
  expect(await piped('work-ledger demo --install | head -1')).toMatchObject({
    code: '141',
    stderr: expect.stringContaining('the demo left nothing behind'),
  });
  expect(await database.query(`select from pg_namespace where nspname like 'work_ledger_demo%'`)).toEqual([]);
});
