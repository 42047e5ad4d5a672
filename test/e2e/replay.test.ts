// Recorded runs through the same loop: to their end, every call, every request. All that there are: test/long/replay.

import { existsSync, readFileSync } from 'node:fs';
import { fileURLToPath } from 'node:url';

import { afterAll, beforeAll, expect, test } from 'vitest';

import { parseRecordedRun } from '../../plv8/readers/recordedRun.ts';
import type { RecordedRun } from '../../plv8/readers/recordedRun.ts';
import { replayRun } from '../../runtime/commands/replay.ts';
import { createDatabase } from '../database.ts';
import type { TestDatabase } from '../database.ts';

let database: TestDatabase;
beforeAll(async () => {
  database = await createDatabase({ from: null });
});
afterAll(() => database?.drop());

test('a small run: text between calls, a call without a result, an error, two calls of equal input', async () => {
  const call = (command: string, result: string | null, isError = false) => ({ name: 'bash', input: { command }, result, isError });
  const run: RecordedRun = {
    format: 'mini-swe-agent', model: 'recorded-model', system: 'Be exact.', prompt: 'Mend it.', outcome: 'Submitted', skipped: [], tools: ['bash'],
    exchanges: [
      { text: 'I look.', calls: [call('ls', 'a.txt'), call('ls', 'b.txt')], usage: { inputTokens: 100, outputTokens: 10, cachedInputTokens: 5 } },
      ...Array.from({ length: 5 }, () => ({ text: 'I think.', calls: [], usage: null })),
      { text: '', calls: [call('false', 'failed', true), call('cut', null)], usage: null },
    ],
  };
  const report = await replayRun(run, database.url, 'replay');
  expect(report).toMatchObject({ state: 'completed', modelCalls: 7, toolCalls: 4, strangeCalls: 0, requests: 8, validRequests: 8, rebuiltRequests: 8 });
  const rows = await database.query<{ result: string; is_error: boolean }>(`
    select k.result #>> '{}' as result, k.is_error from replay.tool_calls k join replay.turns t on t.id = k.turn_id order by t.depth, k.ordinal`);
  expect(rows).toEqual([
    { result: 'a.txt', is_error: false },
    { result: 'b.txt', is_error: false },
    { result: 'failed', is_error: true },
    { result: 'The record has no result for this call.', is_error: false },
  ]);
  expect(await database.query('select model, input_tokens, output_tokens, cached_input_tokens from replay.turns order by depth limit 1'))
    .toEqual([{ model: 'recorded-model', input_tokens: 100, output_tokens: 10, cached_input_tokens: 5 }]);
});

const transcripts = fileURLToPath(new URL('../../../shared/transcripts/', import.meta.url));
test.skipIf(!existsSync(transcripts))('with steps after every five calls blocks close, and every request is still valid and rebuilt', async () => {
  const run = parseRecordedRun(readFileSync(`${transcripts}mini-swe-agent/pylint-dev__pylint-6528.traj.json`, 'utf8'));
  const report = await replayRun(run, database.url, 'replay_steps', 5);
  expect(report).toMatchObject({ state: 'completed', modelCalls: 97, toolCalls: 97, strangeCalls: 0, requests: 98, validRequests: 98, rebuiltRequests: 98 });
  const cuts = await database.query<{ breaks_even_after: number; input_before: number | null; input_after: number | null }>(`select * from replay_steps.context_cost('${report.workItemId}')`);
  expect(cuts.length).toBeGreaterThan(2);
  // What was counted is what the recorded requests had, which were never cut.
  for (const cut of cuts) expect([cut.input_before, cut.input_after]).toEqual([null, null]);
  expect((await database.query<{ text: string }>(`select replay_steps.recall_block('${report.workItemId}', 1, 'pylint') as text`))[0]?.text).toMatch(/^\d+: .*pylint/i);
});

if (!existsSync(transcripts)) console.warn('skipped: the recorded runs (../shared/transcripts is not there)');
