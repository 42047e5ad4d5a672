// Watching a running agent from another process: what it says while it says it, its calls as they begin and end.

import { spawn } from 'node:child_process';
import { randomBytes } from 'node:crypto';
import { once } from 'node:events';
import { mkdtemp, rm } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { fileURLToPath } from 'node:url';

import { afterAll, afterEach, beforeAll, expect, test } from 'vitest';

import { eventsOf, follow } from '../../runtime/commands/follow.ts';
import type { ActivityEvent } from '../../runtime/ledger/activity.ts';
import type { JournalEntry } from '../../runtime/ledger/answers.ts';
import { openDb } from '../../runtime/ledger/db.ts';
import type { Db } from '../../runtime/ledger/db.ts';
import { WorkJournal } from '../../runtime/ledger/journal.ts';
import { listen } from '../../runtime/ledger/listener.ts';
import { scriptOf } from '../../runtime/model/script.ts';
import { startScriptedModel } from '../../runtime/model/scriptedModel.ts';
import type { ScriptedModel } from '../../runtime/model/scriptedModel.ts';
import { createDatabase } from '../database.ts';
import type { TestDatabase } from '../database.ts';
import { startWorkerProcess, until } from '../workerProcess.ts';
import type { WorkerProcess } from '../workerProcess.ts';

const main = fileURLToPath(new URL('../../runtime/start.ts', import.meta.url));
let database: TestDatabase;
let db: Db;
let model: ScriptedModel;
let worker: WorkerProcess;
let workspace: string;
/** The response stands still behind so many events until it is let on. */
let held: { count: number; go(): void; gone: Promise<void> };
/** Known to the worker alone, and longer than two pieces of a stream. */
const secret = `canary.${randomBytes(40).toString('hex')}`;

function hold(count: number): void {
  let go = (): void => {};
  const gone = new Promise<void>((resolve) => (go = resolve));
  held = { count, go, gone };
}

beforeAll(async () => {
  database = await createDatabase();
  db = await openDb(database.url, 'ledger');
  workspace = await mkdtemp(join(tmpdir(), 'work-ledger-test-'));
  await db.facultySave({
    name: 'engineer',
    accepts: ['fix'],
    engage: { workspace: 'host', workspace_dir: workspace, tools: ['bash'] },
    awareness: { enabled: false },
  });
  await database.query(`select ledger.model_price_save('claude-sonnet-5-5', 3, 15)`);
  const afterEvent = (count: number): Promise<void> | undefined => (count === held.count ? held.gone : undefined);
  const script = scriptOf([
    {
      content: [
        { type: 'thinking', thinking: 'First I look at it.', signature: 'c2lnbmVk' },
        { type: 'text', text: 'I look at the log before anything else, whatever it may hold.' },
        { type: 'tool_use', name: 'bash', input: { command: 'echo seen' } },
      ],
      afterEvent,
    },
    { content: [{ type: 'text', text: 'All is well.' }] },
  ]);
  const leak = scriptOf([{ content: [{ type: 'text', text: `It reads ${secret}, and so on.` }], afterEvent }]);
  const told = scriptOf([
    {
      content: [
        { type: 'text', text: 'First.' },
        { type: 'tool_use', name: 'ledger_append', input: { entry_type: 'note', content: 'Second.' } },
      ],
      stopReason: 'tool_use',
    },
    { content: [{ type: 'text', text: 'Third.' }] },
  ]);
  const scripts = { 'Say what it reads': leak, 'Tell it in order': told };
  model = await startScriptedModel((request, position) => {
    const task = JSON.stringify(request.messages[0]);
    return (Object.entries(scripts).find(([of]) => task.includes(of))?.[1] ?? script)(request, position);
  });
  worker = await startWorkerProcess({ url: database.url, modelUrl: model.url, leaseSeconds: 30, env: { GATEWAY_KEY: secret } });
});
afterEach(() => held.go());
afterAll(async () => {
  await worker?.end('SIGTERM');
  await model?.close();
  await db?.close();
  await database?.drop();
  await rm(workspace, { recursive: true, force: true });
});

function startTail(...args: string[]): { said(): string; ended: Promise<unknown[]> } {
  const child = spawn(process.execPath, [main, 'logs', '--follow', ...args], {
    env: { PATH: process.env['PATH'], HOME: process.env['HOME'], DATABASE_URL: database.url },
    stdio: ['ignore', 'pipe', 'inherit'],
  });
  let said = '';
  child.stdout.on('data', (chunk: Buffer) => (said += chunk.toString()));
  return { said: () => said, ended: once(child, 'exit') };
}
/** Lines that follow one another from the beginning, each with its time. */
const linesOf = (...lines: (string | RegExp)[]): RegExp =>
  new RegExp(
    `^${lines.map((line) => `\\d\\d:\\d\\d:\\d\\d {2}${typeof line === 'string' ? line.replaceAll('.', '\\.') : line.source}\\n`).join('')}`,
  );
const asked = (id: string) =>
  until(
    async () =>
      (await database.query<{ call_count: number }>(`select call_count from ledger.turns where work_item_id = '${id}'`))[0]?.call_count,
  );

test('another process shows a response while it arrives, and the calls that follow', async () => {
  hold(8); // message_start, the thinking whole, two pieces of the text, of which the SDK may hold back the last
  const item = await db.workSubmit({ workType: 'fix', description: 'Look at it' });
  await asked(item.id);
  expect(await database.query('select * from ledger.turn_streams')).toEqual([]); // nobody watches yet

  const [words, lines] = [startTail(item.id), startTail(item.id, '--json')];
  await until(
    () =>
      /turn 1 thinks: First I look at it\.\n\d\d:\d\d:\d\d {2}turn 1 says: I look at the\b/.test(words.said()) &&
      lines.said().includes('"kind":"said"'),
  );
  expect(words.said()).toMatch(/ \w+$/); // a whole word, however the stream was cut
  expect(words.said()).not.toContain('may hold');
  const [row] = await database.query<{ said: string; status: string }>(
    'select v.said, t.status from ledger.v_streaming v join ledger.turns t on t.id = v.turn_id',
  );
  expect(row).toEqual({ said: expect.stringMatching(/^I look at the log before/), status: 'streaming' });

  held.go();
  await Promise.all([words.ended, lines.ended]);
  expect(words.said()).toMatch(
    linesOf(
      'turn 1 thinks: First I look at it.',
      /turn 1 says: I look at the log before anything else, whatever it may hold\. \([\d.]+k? tokens in, \d+ out, cost 0\.\d{4}\)/,
      /bash echo seen → done(?: \(\d.*\))?/,
      /turn 2 says: All is well\. \([\d.]+k? tokens in, \d+ out, cost 0\.\d{4}\)/,
    ),
  );
  expect(words.said()).toContain('completed');
  const events = lines
    .said()
    .trim()
    .split('\n')
    .map((line) => JSON.parse(line) as { kind: string; iteration: number; text: string });
  expect(
    events
      .filter(({ kind, iteration }) => kind === 'said' && iteration === 1)
      .map(({ text }) => text)
      .join(''),
  ).toBe('I look at the log before anything else, whatever it may hold.');
  expect(await database.query('select * from ledger.turn_streams')).toEqual([]);
  expect(await database.query(`select status from ledger.turns where work_item_id = '${item.id}' and status <> 'completed'`)).toEqual([]);
});

test('half of a secret, of which the rest is still to arrive, is shown to nobody', async () => {
  hold(5); // message_start, ping, the block, two pieces of it: the first one ends in the middle of the secret, and so does the second
  const item = await db.workSubmit({ workType: 'fix', description: 'Say what it reads' });
  await asked(item.id);
  const [words, lines] = [startTail(item.id), startTail(item.id, '--json')];
  const row = await until(async () =>
    (await database.query<{ content: string }>('select content::text from ledger.turn_streams')).find(({ content }) =>
      content.includes('It reads'),
    ),
  );
  expect(row.content).not.toContain(secret.slice(0, 4));
  await until(() => words.said().includes('turn 1 says: It') && lines.said().includes('It reads'));
  held.go();
  await Promise.all([words.ended, lines.ended]);
  expect(words.said()).toContain('turn 1 says: It reads [redacted], and so on.');
  expect(words.said() + lines.said()).not.toContain(secret.slice(0, 8));
});

test.each(['fix', 'later'])(
  'a turn that ends between the watch and the first look at what is done is shown: work of type %s',
  async (workType) => {
    hold(8);
    const { id } = await db.workSubmit({ workType, description: 'Look at it' });
    if (workType === 'fix') await asked(id); // the other one has no turn yet
    const ledgerWatch: Db['ledgerWatch'] = async (...given) => {
      const answer = await db.ledgerWatch(...given);
      if (workType === 'later')
        await db.facultySave({
          name: 'late',
          accepts: ['later'],
          engage: { workspace: 'host', workspace_dir: workspace, tools: ['bash'] },
          awareness: { enabled: false },
        });
      held.go();
      await until(async () => (await db.workProgress(id)).turns >= 2);
      return answer;
    };
    const events: ActivityEvent[] = [];
    await follow({ ...db, ledgerWatch }, database.url, id, { onActivity: (event) => events.push(event) });
    expect(events[0]).toMatchObject({ kind: 'thinking', iteration: 1, text: 'First I look at it.' });
  },
);

test('a program that subscribes to the journal is told the same, whole, across a broken connection', async () => {
  hold(8);
  const item = await db.workSubmit({ workType: 'fix', description: 'Look at it' });
  await asked(item.id);
  const entries: JournalEntry[] = [];
  const events: ActivityEvent[] = [];
  const end = new WorkJournal(db, database.url).subscribe(
    item.id,
    (entry) => entries.push(entry),
    (event) => events.push(event),
  );
  const said = (iteration: number): string =>
    events.flatMap((event) => (event.kind === 'said' && event.iteration === iteration ? [event.text] : [])).join('');
  await until(async () => said(1).startsWith('I look at the log'));
  expect(said(1)).not.toContain('may hold');
  expect(events[0]).toMatchObject({ kind: 'thinking', iteration: 1, text: 'First I look at it.' });
  await database.query(
    `select pg_terminate_backend(pid) from pg_stat_activity where datname = current_database() and application_name = 'work-ledger listener'`,
  );
  held.go();
  await until(async () => said(2) === 'All is well.' && entries.some(({ entryType }) => entryType === 'session_end'));
  expect(said(1)).toBe('I look at the log before anything else, whatever it may hold.');
  const calls = events.flatMap((event) => (event.kind === 'call' ? [`${event.name} ${event.status}`] : []));
  expect(calls.at(-1)).toBe('bash completed');
  expect(new Set(calls).size).toBe(calls.length);
  end();
});

test('who begins when all is over is told it in the order in which it happened', async () => {
  hold(0);
  const { id } = await db.workSubmit({ workType: 'fix', description: 'Tell it in order' });
  await follow(db, database.url, id, {});
  const heard: string[] = [];
  for await (const event of eventsOf(db, database.url, id, 'all', new AbortController().signal))
    if (event.kind === 'said') heard.push(event.text);
    else if (event.kind === 'entry') heard.push(event.entry.content);
  expect(heard).toEqual(['First.', 'Second.', 'Third.']);
});

test('who is not watched writes nothing and notifies nobody', async () => {
  hold(8);
  const heard = new Set<string>();
  let isConnected = false;
  const listener = listen(database.url, ['work_activity', 'work_item_completed'], {
    onNotification: (channel, payload) => heard.add(`${channel} ${payload}`),
    onConnected: () => (isConnected = true),
  });
  await until(() => isConnected);
  await database.query(`create table public.written (turn_id uuid); create function public.note() returns trigger language plpgsql as 'begin insert into public.written values (new.turn_id); return null; end';
    create trigger note after insert or update on ledger.turn_streams for each row execute function public.note()`);
  const item = await db.workSubmit({ workType: 'fix', description: 'Look at it' });
  await asked(item.id);
  held.go();
  await until(async () => (await db.workItem(item.id))?.resolved_at);
  expect(await database.query('select * from public.written')).toEqual([]);
  await until(() => heard.has(`work_item_completed ${item.id}`)); // behind all else that was said of it
  expect(heard).not.toContain(`work_activity ${item.id}`);

  hold(8);
  const watched = await db.workSubmit({ workType: 'fix', description: 'Look at it' });
  await asked(watched.id);
  await db.ledgerWatch(watched.id, 60);
  await until(async () => (await database.query('select * from public.written')).length > 0);
  await until(() => heard.has(`work_activity ${watched.id}`));
  await listener.close();
});
