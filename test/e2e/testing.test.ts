// work-ledger/testing: what programs test their agents with. On the server of these tests, as on a server of a user's own.

import { spawn } from 'node:child_process';
import { once } from 'node:events';
import { chmod, mkdtemp, rm } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';

import { afterAll, beforeAll, expect, inject, test } from 'vitest';
import { z } from 'zod';

import { defineHook, defineTool, ok, run } from '../../runtime/index.ts';
import type { CountedItem, ToolContext } from '../../runtime/index.ts';
import { matchers, replayOf, scriptedModel, testLedger } from '../../runtime/testing/index.ts';
import type { LedgerMatchers, TestLedger } from '../../runtime/testing/index.ts';
import { ensureEmbedded, stopEmbedded } from '../../runtime/install/embedded.ts';
import { withConnection } from '../../runtime/ledger/connection.ts';
import { until } from '../workerProcess.ts';

expect.extend(matchers);
declare module 'vitest' {
  // oxlint-disable-next-line typescript/no-empty-object-type -- it is merged with the one of Vitest
  interface Matchers<R extends void | Promise<void> = void | Promise<void>, T = unknown> extends LedgerMatchers<R> {}
}

let databaseUrl: string;
let ledger: TestLedger;
beforeAll(async () => {
  databaseUrl = `${inject('serverUrl')}postgres`;
  ledger = await testLedger({ databaseUrl });
});
afterAll(() => ledger?.drop());

const databases = (pattern: string): Promise<string[]> =>
  withConnection({ connectionString: databaseUrl }, async (client) =>
    (await client.query<{ name: string }>('select datname as name from pg_database where datname ~ $1', [pattern])).rows.map(
      ({ name }) => name,
    ),
  );
const nameOf = (url: string): string => new URL(url).pathname.slice(1);
const look = defineTool({
  name: 'look',
  description: 'Looks at a thing.',
  input: z.object({ thing: z.string() }),
  effect: 'pure',
  risk: 'safe',
  execute: async ({ thing }) => ok(`${thing} is red`),
});

test('the input of a call is seen as it was, however long it is', async () => {
  const thing = `a  door\n${'with a long description '.repeat(50)}`;
  await using model = await scriptedModel([
    { calls: [{ name: 'look', input: { thing } }] },
    { calls: [{ name: 'work_complete', input: { summary: 'Red' } }] },
  ]);
  const item = await run({ ...ledger, task: 'Which colour has the long door?', tools: [look], modelClient: model.client }).result;
  expect((await ledger.seen(item.id)).calls[0]).toEqual({ name: 'look', input: { thing }, status: 'completed' });
});

test('a run with a scripted model is seen: what it recorded, called and told the model', async () => {
  await using model = await scriptedModel([
    { say: 'I look.', calls: [{ name: 'look', input: { thing: 'door', how: { far: 1 } } }] },
    { calls: [{ name: 'ledger_append', input: { entry_type: 'finding', content: 'The door is red' } }] },
    { calls: [{ name: 'work_complete', input: { summary: 'Red' } }] },
  ]);
  const item = await run({ ...ledger, task: 'Which colour has the door?', tools: [look], modelClient: model.client }).result;
  const seen = await ledger.seen(item.id);
  expect(seen.item.state).toBe('completed');
  expect(seen).toHaveRecorded('finding');
  expect(seen).toHaveRecorded('finding', /red$/);
  expect(seen).not.toHaveRecorded('finding', 'blue');
  expect(seen).not.toHaveRecorded('error');
  expect(seen).toHaveCalled('look', { thing: 'door' });
  expect(seen).toHaveCalled('look', { how: { far: 1 } });
  expect(seen).not.toHaveCalled('look', { thing: 'window' });
  expect(seen).not.toHaveCalled('bash');
  expect(seen).toHaveToldModel('Which colour has the door?');
  expect(seen).toHaveToldModel(/door is red/);
  expect(seen.requests).toHaveLength(model.requests().length);
  expect(() => expect(seen).toHaveRecorded('finding', 'blue')).toThrow('[1] finding: The door is red');
  expect(() => expect(seen).toHaveCalled('bash')).toThrow('look {"thing":"door","how":{"far":1}}: completed');
});

test('a model answers as a function says, from what it is asked', async () => {
  await using model = await scriptedModel((request, { exchange }) =>
    exchange === 0
      ? { calls: [{ name: 'look', input: { thing: request.model } }] }
      : { calls: [{ name: 'work_complete', input: { summary: 'x' } }] },
  );
  const item = await run({ ...ledger, task: 'Look', model: 'claude-sonnet-5-5', tools: [look], modelClient: model.client }).result;
  expect(await ledger.seen(item.id)).toHaveCalled('look', { thing: 'claude-sonnet-5-5' });
});

test('a model can be closed twice', async () => {
  const model = await scriptedModel([{ say: 'Good' }]);
  await Promise.all([model.close(), model.close()]);
  await model[Symbol.asyncDispose]();
});

test('replies that say nothing, and items that are not there, are refused in words', async () => {
  await expect(scriptedModel([{ say: 'Good' }, {}])).rejects.toThrow('reply 2: a reply needs "say", "calls" or both');
  await expect(scriptedModel([])).rejects.toThrow('scriptedModel');
  await expect(ledger.seen('00000000-0000-0000-0000-000000000000')).rejects.toThrow('there is no work item');
  await expect(testLedger({ databaseUrl: 'mysql://x/y' })).rejects.toThrow('is not the address of a database');
});

test('a new template takes along those of other builds that nobody has used for a week, and no other', async () => {
  const dataDir = await mkdtemp(join(tmpdir(), 'templates-'));
  await chmod(dataDir, 0o755);
  const { url } = await ensureEmbedded({ dataDir, isDurable: false });
  try {
    const names = { old: '0', unnoted: '1', recent: '2', open: '3' };
    const nameIn = (letter: string): string => `work_ledger_template_${letter.repeat(16)}`;
    const there = (): Promise<string[]> =>
      withConnection({ connectionString: url }, async (client) =>
        (
          await client.query<{ name: string }>(
            `select datname as name from pg_database where datname ~ '^work_ledger_template_' order by 1`,
          )
        ).rows.map(({ name }) => name),
      );
    await withConnection({ connectionString: url }, async (client) => {
      for (const [what, letter] of Object.entries(names)) {
        await client.query(`create database ${nameIn(letter)} is_template true`);
        const day = (await client.query<{ day: string }>(`select (current_date - ${what === 'recent' ? 7 : 8})::text as day`)).rows[0]?.day;
        if (what !== 'unnoted')
          await client.query(`comment on database ${nameIn(letter)} is '{"work_ledger": "template", "used_on": "${day}"}'`);
      }
      await client.query(`create database work_ledger_templates_of_mine is_template true`);
    });
    const own = async (): Promise<string> => {
      const made = await testLedger({ databaseUrl: url });
      const name = (await there()).find((one) => !Object.values(names).some((letter) => one === nameIn(letter)));
      await made.drop();
      return name ?? '';
    };
    const again = async (name: string): Promise<void> => {
      await withConnection({ connectionString: url }, async (client) => {
        await client.query(`alter database ${name} is_template false`);
        await client.query(`drop database ${name}`);
      });
    };
    let mine = '';
    // While others look for theirs none is dropped.
    await withConnection({ connectionString: url }, async (client) => {
      await client.query(`select pg_advisory_lock_shared(hashtext('work_ledger templates'))`);
      mine = await own();
      expect(await there()).toEqual([...Object.values(names).map(nameIn), mine].toSorted());
    });
    await again(mine);
    await withConnection({ connectionString: url.replace(/work_ledger$/, nameIn(names.open)) }, async (client) => {
      await client.query('select 1');
      expect(await own()).toBe(mine);
      expect(await there()).toEqual([nameIn(names.recent), nameIn(names.open), mine].toSorted());
    });
    expect(await own()).toBe(mine); // no new one, so nothing is looked for
    expect(await there()).toHaveLength(3);
    await again(mine);
    await own();
    expect(await there()).toEqual([nameIn(names.recent), mine].toSorted());
  } finally {
    await stopEmbedded(dataDir);
    await rm(dataDir, { recursive: true, force: true });
  }
});

test('ledgers that are made at once are apart, come from one template, and are gone when they are dropped', async () => {
  const many = await Promise.all(Array.from({ length: 4 }, () => testLedger({ databaseUrl })));
  await many[0]?.client.submit({ workType: 'x', description: 'Only here' });
  const counts = await Promise.all(many.map(async ({ client }) => (await client.list()).length));
  expect(counts).toEqual([1, 0, 0, 0]);
  expect(await databases('^work_ledger_template_')).toHaveLength(1);
  const names = many.map((one) => nameOf(one.databaseUrl));
  expect(await databases('^work_ledger_test_')).toEqual(expect.arrayContaining(names));
  await Promise.all(many.map(({ drop }) => drop()));
  expect((await databases('^work_ledger_test_')).filter((name) => names.includes(name))).toEqual([]);
});

test('what a killed process left is dropped by the next one, what a living one has is not', async () => {
  const program = `import { testLedger } from ${JSON.stringify(new URL('../../runtime/testing/index.ts', import.meta.url).href)};
    console.log((await testLedger({ databaseUrl: process.argv[1] })).databaseUrl); setInterval(() => {}, 1000)`;
  const child = spawn(process.execPath, ['--input-type=module', '-e', program, databaseUrl], { stdio: ['ignore', 'pipe', 'inherit'] });
  const exited = once(child, 'exit');
  const [made] = await once(child.stdout, 'data');
  const name = nameOf(String(made).trim());
  await (await testLedger({ databaseUrl })).drop();
  expect(await databases(name)).toEqual([name]);
  child.kill('SIGKILL');
  await exited;
  await until(async () => {
    await (await testLedger({ databaseUrl })).drop();
    return (await databases(name)).length === 0;
  });
});

test('a recorded item is played again: the model and tools of then, the agent of today', async () => {
  await using model = await scriptedModel([
    { say: 'I look.', calls: [{ name: 'look', input: { thing: 'door' } }] },
    {
      calls: [
        { name: 'look', input: { thing: 'gate' } },
        { name: 'ledger_append', input: { entry_type: 'finding', content: 'Both are red' } },
      ],
    },
    { calls: [{ name: 'work_complete', input: { summary: 'Red' } }] },
  ]);
  const item = await run({ ...ledger, task: 'Which colours are there?', tools: [look], modelClient: model.client }).result;
  const exported = await withConnection({ connectionString: ledger.databaseUrl }, async (client) => {
    const { rows } = await client.query('select relation, "row" from work_ledger.work_export($1)', [item.id]);
    return rows.map((row) => `${JSON.stringify(row)}\n`).join('');
  });
  await using replay = await replayOf(exported);
  expect(replay.task).toBe('Which colours are there?');
  expect(replay.tools.map(({ name }) => name)).toEqual(['look']);
  const again = await run({ ...ledger, task: replay.task, tools: replay.tools, modelClient: replay.client }).result;
  const [then, now] = [await ledger.seen(item.id), await ledger.seen(again.id)];
  expect(now.item).toMatchObject({ state: 'completed', outcome_data: { summary: 'Red' } });
  expect(now.calls).toEqual(then.calls);
  expect(now).toHaveRecorded('finding', 'Both are red');
  expect(now).toHaveToldModel(/door is red.*gate is red/s);
  expect([replay.strangeCalls(), replay.left()]).toEqual([[], 0]);
});

test('a replay says what its recording does not have, repeats itself, and reads the files of other programs', async () => {
  const messages = [
    { role: 'system', content: 'You count.' },
    { role: 'user', content: 'Count them.' },
    { role: 'assistant', content: 'I count.\n\n```bash\nls\n```' },
    { role: 'user', content: 'one two' },
  ];
  await using replay = await replayOf(JSON.stringify({ trajectory_format: 'mini-swe-agent-1', info: {}, messages }));
  expect(replay.task).toBe('Count them.');
  const [bash] = replay.tools;
  const context = {} as ToolContext;
  expect(await bash?.execute({ command: 'ls' }, context)).toEqual({ content: 'one two', isError: false });
  expect(await bash?.execute({ command: 'ls' }, context)).toEqual({ content: 'The record has no such call.', isError: true });
  expect(replay.strangeCalls()).toEqual(['bash {"command":"ls"}']);
  const ask = async (said: string): Promise<string> => {
    const body = {
      model: 'm',
      max_tokens: 9,
      tools: [{ name: 'bash', input_schema: { type: 'object' } }],
      messages: [{ role: 'user', content: said }],
    };
    const headers = { 'x-api-key': 'k', 'anthropic-version': '2023-06-01', 'content-type': 'application/json' };
    return JSON.stringify(
      (
        (await (await fetch(`${replay.url}/v1/messages`, { method: 'POST', headers, body: JSON.stringify(body) })).json()) as {
          content?: unknown;
        }
      ).content,
    );
  };
  expect(replay.left()).toBe(2);
  const first = await ask('a');
  expect(first).toContain('I count.');
  expect([await ask('a'), replay.left()]).toEqual([first, 1]);
  expect([await ask('b'), await ask('c')].map((said) => /The record ends here|Done/.exec(said)?.[0])).toEqual([
    'The record ends here',
    'Done',
  ]);
  await expect(replayOf('{"relation": "work_items", "row": {"id": "i", "description": "Gone"}}'.replaceAll(': ', ':'))).rejects.toThrow(
    'no answers of a model',
  );
  await expect(replayOf('Once upon a time')).rejects.toThrow();
});

test('time passes for what waits: an approval, a wait, a retry; and for nothing else', async () => {
  await using model = await scriptedModel((request, { exchange }) => {
    if (exchange === 0) return { calls: [{ name: 'wait_for', input: { timeout_seconds: 7200 } }] };
    if (exchange === 1) return { calls: [{ name: 'open', input: {} }] };
    return { calls: [{ name: 'work_complete', input: { summary: JSON.stringify(request.messages.at(-1)) } }] };
  });
  let attempts = 0;
  const slow = defineHook({
    name: 'slow',
    stage: 'orient',
    run: () => {
      if (++attempts < 3) throw new Error('not yet');
    },
  });
  const open = defineTool({
    name: 'open',
    description: 'Opens it.',
    input: z.object({}),
    effect: 'unsafe',
    risk: 'dangerous',
    execute: async () => ok('open'),
  });
  const before = await ledger.client.submit({ workType: 'x', description: 'Only here', runAt: '2999-01-01T00:00:00Z' });
  const work = run({
    ...ledger,
    task: 'Open it',
    tools: [open],
    hooks: [slow],
    modelClient: model.client,
    faculty: { engage: { require_approval: 'dangerous' }, recover: { max_attempts: 3 } },
  });
  const id = await work.id;
  const stands = (what: (item: CountedItem) => boolean): Promise<unknown> => until(async () => what(await ledger.client.item(id)));
  for (const attempt of [1, 2]) {
    await stands((item) => item.attempts === attempt && item.state === 'queued' && item.state_reason !== null);
    await ledger.passTime('1 minute');
  }
  await stands((item) => item.state === 'waiting');
  await ledger.passTime('3 hours');
  await until(async () => (await ledger.client.approvals()).length === 1);
  await stands((item) => item.state === 'waiting');
  await ledger.passTime('2 days');
  const item = await work.result;
  expect(item).toMatchObject({ state: 'completed', attempts: 3 });
  expect(item.outcome_data?.['summary']).toMatch(/nobody (approved|decided)|not approved|expired/i);
  expect(new Date((await ledger.client.item(before.id)).created_at).getTime()).toBe(new Date(before.created_at).getTime());
  for (const wrong of ['soon', '-1 day', '0']) await expect(ledger.passTime(wrong)).rejects.toThrow('is no time that passes');
});
