// A recorded run through the same loop: to its end, every call, every request. Those that nobody here wrote: test/long/replay.

import { afterAll, beforeAll, expect, test } from 'vitest';

import type { RecordedRun } from '../../plv8/readers/recordedRun.ts';
import { createDatabase } from '../database.ts';
import type { TestDatabase } from '../database.ts';
import { replayRun } from '../replay.ts';

let database: TestDatabase;
beforeAll(async () => {
  database = await createDatabase({ from: null });
});
afterAll(() => database?.drop());

test('in a ledger with work of others in it, it does its own alone', async () => {
  const run: RecordedRun = {
    format: 'mini-swe-agent',
    model: 'recorded-model',
    system: '',
    prompt: 'Mend it.',
    outcome: 'Done',
    skipped: [],
    tools: [],
    exchanges: [{ text: 'Done.', calls: [], usage: null }],
  };
  await replayRun(run, database.url, 'shared');
  await database.query(`select from shared.work_submit('replay', 'Mine', p_priority => 9)`);
  expect(await replayRun(run, database.url, 'shared')).toMatchObject({ state: 'completed', requests: 1 });
  expect(await database.query(`select description, state from shared.work_items where state <> 'completed'`)).toEqual([
    { description: 'Mine', state: 'queued' },
  ]);
});

test('a small run: text between calls, a call without a result, an error, two calls of equal input', async () => {
  const call = (command: string, result: string | null, isError = false) => ({ name: 'bash', input: { command }, result, isError });
  const run: RecordedRun = {
    format: 'mini-swe-agent',
    model: 'recorded-model',
    system: 'Be exact.',
    prompt: 'Mend it.',
    outcome: 'Submitted',
    skipped: [],
    tools: ['bash'],
    exchanges: [
      {
        text: 'I look.',
        calls: [call('ls', 'a.txt'), call('ls', 'b.txt')],
        usage: { inputTokens: 100, outputTokens: 10, cachedInputTokens: 5 },
      },
      ...Array.from({ length: 5 }, () => ({ text: 'I think.', calls: [], usage: null })),
      { text: '', calls: [call('false', 'failed', true), call('cut', null)], usage: null },
    ],
  };
  const report = await replayRun(run, database.url, 'replay');
  expect(report).toMatchObject({
    state: 'completed',
    modelCalls: 7,
    toolCalls: 4,
    strangeCalls: 0,
    requests: 8,
    validRequests: 8,
    rebuiltRequests: 8,
  });
  const rows = await database.query<{ result: string; is_error: boolean }>(`
    select k.result #>> '{}' as result, k.is_error from replay.tool_calls k join replay.turns t on t.id = k.turn_id order by t.depth, k.ordinal`);
  expect(rows).toEqual([
    { result: 'a.txt', is_error: false },
    { result: 'b.txt', is_error: false },
    { result: 'failed', is_error: true },
    { result: 'The record has no result for this call.', is_error: false },
  ]);
  expect(
    await database.query('select model, input_tokens, output_tokens, cached_input_tokens from replay.turns order by depth limit 1'),
  ).toEqual([{ model: 'recorded-model', input_tokens: 100, output_tokens: 10, cached_input_tokens: 5 }]);
});
