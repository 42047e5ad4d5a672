// `work-ledger resume SESSION --in PROGRAM`: the file is where the program looks, whole, and never over one that is there.

import { mkdir, readdir, readFile, realpath, stat, writeFile } from 'node:fs/promises';
import { join } from 'node:path';

import { afterAll, beforeAll, expect, test } from 'vitest';

import { cli } from '../cli.ts';
import { claudeSession, Importer } from '../importer.ts';

const secret = `ghp_${'a1B2'.repeat(9)}`;
let importer: Importer;
let work: string;
let item: string;
let env: NodeJS.ProcessEnv;
beforeAll(async () => {
  importer = await Importer.open();
  const directory = await realpath(importer.directory);
  work = join(directory, "my project's");
  await mkdir(work);
  env = {
    DATABASE_URL: importer.database.url,
    WORK_LEDGER_SCHEMA: 'ledger',
    CLAUDE_CONFIG_DIR: join(directory, 'claude'),
    CODEX_HOME: join(directory, 'codex'),
  };
  const file = join(directory, 'session.jsonl');
  await writeFile(
    file,
    `${claudeSession(3).join('\n').replaceAll('content of 2', `the token is ${secret}`).replaceAll('"/work"', '"/nowhere/at/all"')}\n`,
  );
  item = (await importer.import(file)).workItemId;
});
afterAll(() => importer?.close());

const resume = (...args: string[]) => cli(['resume', ...args], { env, cwd: work });

test('Claude Code finds it by the directory, and goes on with it there', async () => {
  const { code, stdout, stderr } = await resume(item.slice(-12), '--in', 'claude-code');
  expect({ code, stderr }).toEqual({
    code: 0,
    stderr: 'it ran in /nowhere/at/all, which does not exist here: it continues in this directory\n',
  });
  const [file = '', command] = stdout.trimEnd().split('\n');
  const id = /([0-9a-f-]{36})\.jsonl$/.exec(file)![1]!;
  expect(file).toBe(join(env['CLAUDE_CONFIG_DIR']!, 'projects', work.replaceAll(/[^a-zA-Z0-9]/g, '-'), `${id}.jsonl`));
  expect(command).toBe(`cd '${work.replace("'", `'\\''`)}' && claude --resume ${id}`);
  expect((await stat(file)).mode & 0o777).toBe(0o600);
  const written = await readFile(file, 'utf8');
  const records = written
    .trimEnd()
    .split('\n')
    .map((line) => JSON.parse(line) as { sessionId: string; cwd: string });
  expect(new Set(records.map(({ sessionId, cwd }) => `${sessionId} ${cwd}`))).toEqual(new Set([`${id} ${work}`]));
  expect(written).toContain('the token is [redacted');
  expect(written).not.toContain(secret);

  await writeFile(file, `${written}{"type":"said since"}\n`);
  const again = await resume(item, '--in', 'claude-code', '--workspace', work);
  expect(again).toMatchObject({ code: 1, stdout: '' });
  expect(again.stderr).toContain(`${file} already exists and was not changed; continue with: cd `);
  expect(await readFile(file, 'utf8')).toBe(`${written}{"type":"said since"}\n`);
  expect(await readdir(join(file, '..'))).toEqual([`${id}.jsonl`]);
});

test('Codex finds it by the day; what it cannot take is told', async () => {
  const { code, stdout, stderr } = await resume('session-1', '--in', 'codex', '--workspace', work, '--json');
  const told = JSON.parse(stdout) as { session: string; file: string; directory: string; command: string; leftOut: object[] };
  expect({ code, stderr }).toEqual({
    code: 0,
    stderr: 'left out: 3 × calls of Read, a tool that the other program does not have: they are written as text\n',
  });
  expect(told).toMatchObject({
    file: join(env['CODEX_HOME']!, 'sessions/2026/01/01', `rollout-2026-01-01T00-00-10-${told.session}.jsonl`),
    directory: work,
    command: expect.stringMatching(`codex resume ${told.session}$`),
    leftOut: [{ reason: expect.stringContaining('calls of Read'), count: 3 }],
  });
  expect(JSON.parse((await readFile(told.file, 'utf8')).split('\n')[0]!)).toMatchObject({
    type: 'session_meta',
    payload: { id: told.session, cwd: work },
  });
});

test('in the ledger it is a fork; what has no turns says where its packet is', async () => {
  const { code, stdout } = await resume('session-1', '--in', 'work-ledger');
  expect(code).toBe(0);
  const [fork] = await importer.database.query<{ depth: number; state: string }>(
    `select t.depth, w.state from ledger.work_items w join ledger.turns t on t.id = w.fork_turn_id where w.id = '${stdout.trim()}'`,
  );
  expect(fork).toEqual({ depth: 2, state: 'queued' });
  const [open] = await importer.database.query<{ id: string }>(`select id from ledger.journal_session_create('conversation', 'Round it')`);
  const refused = await resume(open!.id, '--in', 'work-ledger');
  expect(refused).toMatchObject({ code: 2, stderr: expect.stringContaining(`select export_for_resumption('${open!.id}')`) });
});

test('what cannot be used is refused, and nothing is written', async () => {
  const before = await readdir(importer.directory, { recursive: true });
  expect(await resume('nothing', '--in', 'codex')).toMatchObject({
    code: 1,
    stderr: expect.stringContaining('there is no session, work item or turn "nothing"'),
  });
  expect(await resume(item, '--in', 'codex', '--workspace', '/nowhere/at/all')).toMatchObject({
    code: 2,
    stderr: expect.stringContaining('/nowhere/at/all is not a directory'),
  });
  expect(await resume(item, '--in', 'emacs')).toMatchObject({ code: 2 });
  expect(await readdir(importer.directory, { recursive: true })).toEqual(before);
});
