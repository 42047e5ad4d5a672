// Recorded runs that nobody here wrote, through the same loop: each to its end, every call, every request.

import { existsSync, readFileSync } from 'node:fs';
import { fileURLToPath } from 'node:url';

import { afterAll, beforeAll, describe, expect, test } from 'vitest';

import { parseRecordedRun } from '../../plv8/readers/recordedRun.ts';
import { createDatabase } from '../database.ts';
import type { TestDatabase } from '../database.ts';
import { replayRun } from '../replay.ts';

let database: TestDatabase;
beforeAll(async () => {
  database = await createDatabase({ from: null });
});
afterAll(() => database?.drop());

const transcripts = fileURLToPath(new URL('../../../shared/transcripts/', import.meta.url));
/** Longer ones take minutes and show nothing new; `make replay` drives them as well. */
const maxModelCalls = 120;

describe.skipIf(!existsSync(transcripts))('the recorded runs beside the project', () => {
  const index = existsSync(transcripts) ? readFileSync(`${transcripts}INDEX.md`, 'utf8') : '';
  const rows = [...index.matchAll(/^\| `([^`]+)` \| (?:claude|claude-sidechain|codex|copilot|miniswe|sweagent) \| (\d+) \| (\d+) \|/gm)];
  const files = rows
    .map(([, file = '', modelCalls, toolCalls]) => ({ file, modelCalls: Number(modelCalls), toolCalls: Number(toolCalls) }))
    .filter((row) => row.modelCalls <= maxModelCalls);

  test.each(files)('$file replays to its end, its calls counted as in the index', async ({ file, modelCalls, toolCalls }) => {
    const report = await replayRun(parseRecordedRun(readFileSync(transcripts + file, 'utf8')), database.url, 'replay');
    expect(report).toMatchObject({ state: 'completed', modelCalls, toolCalls, strangeCalls: 0 });
    expect(report.requests).toBeGreaterThanOrEqual(report.modelCalls);
    expect([report.validRequests, report.rebuiltRequests]).toEqual([report.requests, report.requests]);
  });

  test('with steps after every five calls blocks close, and every request is still valid and rebuilt', async () => {
    const run = parseRecordedRun(readFileSync(`${transcripts}mini-swe-agent/pylint-dev__pylint-6528.traj.json`, 'utf8'));
    const report = await replayRun(run, database.url, 'replay_steps', 5);
    expect(report).toMatchObject({
      state: 'completed',
      modelCalls: 97,
      toolCalls: 97,
      strangeCalls: 0,
      requests: 98,
      validRequests: 98,
      rebuiltRequests: 98,
    });
    const cuts = await database.query<{ breaks_even_after: number; input_before: number | null; input_after: number | null }>(
      `select * from replay_steps.context_cost('${report.workItemId}')`,
    );
    expect(cuts.length).toBeGreaterThan(2);
    // What was counted is what the recorded requests had, which were never cut.
    for (const cut of cuts) expect([cut.input_before, cut.input_after]).toEqual([null, null]);
    expect(
      (await database.query<{ text: string }>(`select replay_steps.recall_block('${report.workItemId}', 1, 'pylint') as text`))[0]?.text,
    ).toMatch(/^\d+: .*pylint/im);
  });
});

if (!existsSync(transcripts)) console.warn('skipped: the recorded runs (../shared/transcripts is not there)');
