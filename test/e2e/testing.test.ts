// work-ledger/testing: what programs test their agents with. On the server of these tests, as on a server of a user's own.

import { spawn } from 'node:child_process';
import { once } from 'node:events';

import { afterAll, beforeAll, expect, inject, test } from 'vitest';
import { z } from 'zod';

import { defineTool, ok, run } from '../../runtime/index.ts';
import { matchers, scriptedModel, testLedger } from '../../runtime/testing/index.ts';
import type { LedgerMatchers, TestLedger } from '../../runtime/testing/index.ts';
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
const look = defineTool({
  name: 'look',
  description: 'Looks at a thing.',
  input: z.object({ thing: z.string() }),
  effect: 'pure',
  risk: 'safe',
  execute: async ({ thing }) => ok(`${thing} is red`),
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

test('replies that say nothing, and items that are not there, are refused in words', async () => {
  await expect(scriptedModel([{ say: 'Good' }, {}])).rejects.toThrow('reply 2: a reply needs "say", "calls" or both');
  await expect(scriptedModel([])).rejects.toThrow('scriptedModel');
  await expect(ledger.seen('00000000-0000-0000-0000-000000000000')).rejects.toThrow('there is no work item');
  await expect(testLedger({ databaseUrl: 'mysql://x/y' })).rejects.toThrow('is not the address of a database');
});

test('ledgers that are made at once are apart, come from one template, and are gone when they are dropped', async () => {
  const many = await Promise.all(Array.from({ length: 4 }, () => testLedger({ databaseUrl })));
  await many[0]?.client.submit({ workType: 'x', description: 'Only here' });
  const counts = await Promise.all(many.map(async ({ client }) => (await client.list()).length));
  expect(counts).toEqual([1, 0, 0, 0]);
  expect(await databases('^work_ledger_template_')).toHaveLength(1);
  await Promise.all(many.map(({ drop }) => drop()));
  expect(await databases('^work_ledger_test_')).toHaveLength(1);
});

test('what a killed process left is dropped by the next one, what a living one has is not', async () => {
  const program = `import { testLedger } from ${JSON.stringify(new URL('../../runtime/testing/index.ts', import.meta.url).href)};
    await testLedger({ databaseUrl: process.argv[1] }); console.log('made'); setInterval(() => {}, 1000)`;
  const child = spawn(process.execPath, ['--input-type=module', '-e', program, databaseUrl], { stdio: ['ignore', 'pipe', 'inherit'] });
  const exited = once(child, 'exit');
  await once(child.stdout, 'data');
  await (await testLedger({ databaseUrl })).drop();
  expect(await databases('^work_ledger_test_')).toHaveLength(2);
  child.kill('SIGKILL');
  await exited;
  await until(async () => {
    await (await testLedger({ databaseUrl })).drop();
    return (await databases('^work_ledger_test_')).length === 1;
  });
});
